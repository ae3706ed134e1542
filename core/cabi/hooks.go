//go:build cachekit_hooks

package main

/*
#cgo CFLAGS: -I${SRCDIR}/testdata
#include <stdlib.h>
#include "hooks.h"
*/
import "C"

import "unsafe"

// These are only in the library that the tests build, with the tag
// cachekit_hooks: one way to the end of a counter, and two bugs that the tests
// must find.

//export cachekit_hook_skip
func cachekit_hook_skip(h *C.CachekitEncryptor, counter C.uint64_t) {
	encryptors.find(encryptorOf(h)).Skip(uint64(counter))
}

// cachekit_hook_overrun copies one byte more than out has.
//
//export cachekit_hook_overrun
func cachekit_hook_overrun(out *C.uint8_t, n C.size_t) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(out)), n+1), make([]byte, n+1))
}

// cachekit_hook_leak loses n bytes of C's heap.
//
//export cachekit_hook_leak
func cachekit_hook_leak(n C.size_t) {
	C.malloc(n)
}
