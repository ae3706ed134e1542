package main

import (
	"unicode/utf8"
	"unsafe"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// A storage is the format label of what is stored without one.
type storage struct{ format string }

// An allocator returns n bytes of C's heap, or nil; n is not 0.
type allocator func(n uintptr) *byte

// newStorage is cachekit_byte_storage_new; 0 stands for NULL.
func newStorage(format *byte) (h uintptr) {
	defer rescue(&h, 0)
	s := &storage{format: cachekit.DefaultFormat}
	if format != nil {
		s.format = text(format)
	}
	if !utf8.ValidString(s.format) {
		return 0
	}
	return storages.add(s)
}

// text returns a copy of a string that ends with a zero byte. C.GoString reads
// in larger steps, past the end.
func text(p *byte) string {
	n := uintptr(0)
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(span{p, n}.bytes())
}

// store is cachekit_byte_storage_store.
func store(h uintptr, data span, format *byte, out **byte, n *uintptr, alloc allocator) (c code) {
	defer rescue(&c, invalidInput)
	if data.p == nil || out == nil || n == nil {
		return nullPointer
	}
	s := storages.find(h)
	if s == nil {
		return invalidHandle
	}
	if data.n > cachekit.MaxPayload {
		return inputTooLarge
	}
	label := s.format
	if format != nil {
		label = text(format)
	}
	env, err := cachekit.StoreFormat(nil, data.bytes(), label)
	if err != nil {
		return codeOf(err)
	}
	return give(env, out, n, alloc)
}

// retrieve is cachekit_byte_storage_retrieve.
func retrieve(h uintptr, env span, out **byte, n *uintptr, alloc allocator) (c code) {
	defer rescue(&c, decompressionFailed)
	if env.p == nil || out == nil || n == nil {
		return nullPointer
	}
	if storages.find(h) == nil {
		return invalidHandle
	}
	if env.n > cachekit.MaxCompressed {
		return inputTooLarge
	}
	payload, _, err := cachekit.Retrieve(nil, env.bytes())
	if err != nil {
		return codeOf(err)
	}
	return give(payload, out, n, alloc)
}

// give copies a result to C's heap. An empty one has an address too, so that
// NULL only ever means that there is no result.
func give(result []byte, out **byte, n *uintptr, alloc allocator) code {
	size := uintptr(len(result))
	p := alloc(max(size, 1))
	if p == nil {
		return inputTooLarge
	}
	copy(span{p, size}.bytes(), result)
	*n = size
	*out = p
	return ok
}
