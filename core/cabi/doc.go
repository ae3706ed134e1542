// Package main is the C interface of package cachekit, built with
// -buildmode=c-shared: "make ffi" makes libcachekit.so. Its reference is
// include/cachekit.h.
//
// There are three layers. code.go, handle.go, call.go and storage.go are plain
// Go and decide everything: each call takes what C passes as addresses and
// lengths, and turns a panic into a code, so that none crosses into C. export.go
// alone knows cgo; it has one line for each function, and the compiler compares
// its signatures with the header's. hooks.go is only in the library that the
// tests build.
//
// Memory that C passed is read where it is, but results are made in Go memory
// and copied out when nothing can fail any more.
//
// A wild pointer is the caller's error and ends the process, as anywhere in C,
// but for one into the first page, whose fault Go reports as a panic.
//
// Spec section 9.
package main

// main is never called: the program is a library.
func main() {}
