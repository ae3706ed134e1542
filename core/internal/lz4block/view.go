//go:build (amd64 || arm64) && !purego

package lz4block

import "unsafe"

// A view reads and writes a slice without bounds checks. Who uses one has to
// show that the accesses are in range. The hosts it is for are little-endian and
// allow unaligned access.
//
// Note: with checked accesses encode executes 17 % more instructions.
type view struct{ p unsafe.Pointer }

func viewOf(b []byte) view { return view{unsafe.Pointer(unsafe.SliceData(b))} }

func (w view) load8(i int) byte        { return *(*byte)(unsafe.Add(w.p, i)) }
func (w view) load32(i int) uint32     { return *(*uint32)(unsafe.Add(w.p, i)) }
func (w view) load64(i int) uint64     { return *(*uint64)(unsafe.Add(w.p, i)) }
func (w view) store8(i int, v byte)    { *(*byte)(unsafe.Add(w.p, i)) = v }
func (w view) store16(i int, v uint16) { *(*uint16)(unsafe.Add(w.p, i)) = v }
func (w view) chunk(i int) *[16]byte   { return (*[16]byte)(unsafe.Add(w.p, i)) }
