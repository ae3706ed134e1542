package message

import (
	"slices"
	"unsafe"
)

// Extend returns dst extended by n bytes, and these.
func Extend(dst []byte, n int) (out, room []byte) {
	if len(dst) == 0 && cap(dst) < n {
		dst = make([]byte, 0, n) // slices.Grow would clear it a second time
	}
	out = slices.Grow(dst, n)[:len(dst)+n]
	return out, out[len(dst):]
}

// Overlap reports whether a and b share memory. unsafe only takes addresses
// here; comparing them is what the standard library's crypto packages do.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0 := uintptr(unsafe.Pointer(unsafe.SliceData(a)))
	b0 := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return a0 < b0+uintptr(len(b)) && b0 < a0+uintptr(len(a))
}

// OverlapElsewhere reports whether a and b share memory, but do not start at
// the same byte: then what is written to one changes the rest of the other.
func OverlapElsewhere(a, b []byte) bool {
	return Overlap(a, b) && unsafe.SliceData(a) != unsafe.SliceData(b)
}
