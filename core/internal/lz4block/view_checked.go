//go:build !(amd64 || arm64) || purego

package lz4block

import "encoding/binary"

// A view reads and writes a slice, little-endian.
type view []byte

func viewOf(b []byte) view { return b }

func (w view) load8(i int) byte        { return w[i] }
func (w view) load32(i int) uint32     { return binary.LittleEndian.Uint32(w[i : i+4]) }
func (w view) load64(i int) uint64     { return binary.LittleEndian.Uint64(w[i : i+8]) }
func (w view) store8(i int, v byte)    { w[i] = v }
func (w view) store16(i int, v uint16) { binary.LittleEndian.PutUint16(w[i:i+2], v) }
func (w view) chunk(i int) *[16]byte   { return (*[16]byte)(w[i : i+16]) }
func (w view) from(i int) view         { return w[i:] }

// since returns how far into v, of the same slice, w begins.
func (w view) since(v view) int { return len(v) - len(w) }

// copy copies n bytes of v at i.
func (w view) copy(v view, i, n int) { copy(w[:n], v[i:i+n]) }
