package cachekit

import "unsafe"

// overlap reports whether a and b share memory. unsafe only takes addresses
// here; comparing them is what the standard library's crypto packages do.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0 := uintptr(unsafe.Pointer(unsafe.SliceData(a)))
	b0 := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return a0 < b0+uintptr(len(b)) && b0 < a0+uintptr(len(a))
}

// spare returns what lies between the length and the capacity of b.
func spare(b []byte) []byte { return b[len(b):cap(b)] }
