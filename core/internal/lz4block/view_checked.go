//go:build !(amd64 || arm64) || purego

package lz4block

import "encoding/binary"

// A view reads and writes a slice, little-endian.
type view []byte

func viewOf(b []byte) view { return b }

func (w view) load8(i int) byte        { return w[i] }
func (w view) load32(i int) uint32     { return binary.LittleEndian.Uint32(w[i:]) }
func (w view) load64(i int) uint64     { return binary.LittleEndian.Uint64(w[i:]) }
func (w view) store8(i int, v byte)    { w[i] = v }
func (w view) store16(i int, v uint16) { binary.LittleEndian.PutUint16(w[i:], v) }
func (w view) chunk(i int) *[16]byte   { return (*[16]byte)(w[i:]) }
