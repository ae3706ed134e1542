//go:build (amd64 || arm64) && !purego

package lz4block

import "unsafe"

// A view reads and writes a slice without bounds checks. Who uses one has to
// show that the accesses are in range. The hosts it is for are little-endian and
// allow unaligned access.
//
// Note: with the checked twin Store executes 1.7 times the instructions at 1 KiB
// and twice as many at 64 KiB.
type view struct{ p unsafe.Pointer }

func viewOf(b []byte) view { return view{unsafe.Pointer(unsafe.SliceData(b))} }

func (w view) load8(i int) byte        { return *(*byte)(unsafe.Add(w.p, i)) }
func (w view) load32(i int) uint32     { return *(*uint32)(unsafe.Add(w.p, i)) }
func (w view) load64(i int) uint64     { return *(*uint64)(unsafe.Add(w.p, i)) }
func (w view) store8(i int, v byte)    { *(*byte)(unsafe.Add(w.p, i)) = v }
func (w view) store16(i int, v uint16) { *(*uint16)(unsafe.Add(w.p, i)) = v }
func (w view) chunk(i int) *[16]byte   { return (*[16]byte)(unsafe.Add(w.p, i)) }
func (w view) from(i int) view         { return view{unsafe.Add(w.p, i)} }

// since returns how far into v, of the same slice, w begins.
func (w view) since(v view) int { return int(uintptr(w.p) - uintptr(v.p)) }

// copy copies n bytes of v at i.
func (w view) copy(v view, i, n int) {
	copy(unsafe.Slice((*byte)(w.p), n), unsafe.Slice((*byte)(unsafe.Add(v.p, i)), n))
}
