// Package envelope owns the one MessagePack shape of cachekit: an array of a
// block, a checksum, a size and a label.
//
// [Scan] walks any MessagePack document and allocates nothing for it. [Parse]
// decodes an envelope that Scan has passed, [Append] writes one. Neither knows
// limits, compression or checksums: those belong to package cachekit.
package envelope

import "encoding/binary"

// A Fault is a reason for which [Scan] refuses a document. The zero value is no
// fault.
type Fault uint8

const (
	Empty    Fault = iota + 1 // the input ends before the document is complete
	Prefix                    // the input ends inside a length prefix
	Depth                     // too many collections are open at once
	Bytes                     // a payload is longer than what is left
	Elements                  // more elements are owed than bytes are left
	Reserved                  // the marker 0xc1
)

// Classes of the markers whose payload length is not a constant. Smaller values
// in class are the payload length itself.
const (
	fixMap = iota + 32
	map16
	map32
	fixArray
	array16
	array32
	bytes8 // str or bin with a prefix of one byte
	bytes16
	bytes32
	ext8 // ext with a prefix of one byte
	ext16
	ext32
	reserved
)

// prefixes are the lengths in bytes of the length prefixes, by class.
var prefixes = [...]uint8{
	map16 - fixMap: 2, map32 - fixMap: 4, array16 - fixMap: 2, array32 - fixMap: 4,
	bytes8 - fixMap: 1, bytes16 - fixMap: 2, bytes32 - fixMap: 4,
	ext8 - fixMap: 1, ext16 - fixMap: 2, ext32 - fixMap: 4,
}

// class holds for each marker the number of payload bytes (below 32) or one of
// the classes above. Absent entries are the fixints: no payload.
var class = [256]uint8{
	0x80: fixMap, fixMap, fixMap, fixMap, fixMap, fixMap, fixMap, fixMap,
	fixMap, fixMap, fixMap, fixMap, fixMap, fixMap, fixMap, fixMap,
	fixArray, fixArray, fixArray, fixArray, fixArray, fixArray, fixArray, fixArray,
	fixArray, fixArray, fixArray, fixArray, fixArray, fixArray, fixArray, fixArray,
	0xa0: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	0xc0: 0, reserved, 0, 0, // nil, -, false, true
	bytes8, bytes16, bytes32, // bin
	ext8, ext16, ext32,
	4, 8, // float32, float64
	1, 2, 4, 8, // uint8 to uint64
	1, 2, 4, 8, // int8 to int64
	2, 3, 5, 9, 17, // fixext: the type and 1 to 16 bytes
	bytes8, bytes16, bytes32, // str
	array16, array32, map16, map32,
}

// onStack is the nesting that Scan follows without allocating.
const onStack = 16

// Scan walks the first MessagePack document in b and returns its length in
// bytes. On a fault it returns the position at which the walk ended: behind the
// marker that broke a rule, and behind its length prefix if that was whole.
//
// maxDepth is the number of arrays and maps, empty ones too, that may be open
// at once; 0 or less admits scalars only. Bytes behind the document are not
// looked at. Declared lengths are summed over the whole document in 64 bits and
// may not exceed what the input holds, so a decoder that runs after Scan can
// trust them. Nothing is allocated up to a nesting of 16; beyond, 8 bytes for
// each open collection.
//
// Spec section 4.
func Scan(b []byte, maxDepth int) (n int, f Fault) {
	if len(b) == 0 {
		return 0, Empty
	}
	var (
		fixed [onStack]uint64
		stack = fixed[:0]    // elements owed by the open collections but the innermost
		owed  = uint64(1)    // elements owed by the innermost; first the root
		pos   int            // in b
		slack = len64(b) - 1 // bytes left less elements owed by all
	)
	for {
		for owed == 0 {
			// An exhausted collection is closed only here, before the next
			// element: while its last child is open it counts as a level.
			if len(stack) == 0 {
				return pos, 0
			}
			owed = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
		}
		// There is a byte for every element owed, as slack is not negative; a
		// marker uses up one of each.
		m := b[pos]
		pos++
		owed--

		c := class[m]
		if c < fixMap {
			pos += int(c)
			if slack -= int64(c); slack < 0 {
				if pos > len(b) {
					return pos - int(c), Bytes
				}
				return pos, Elements
			}
			continue
		}
		if c == reserved {
			return pos, Reserved
		}

		var size uint64 // payload bytes, or elements of a collection
		rest := b[pos:]
		prefix := int(prefixes[c-fixMap])
		if len(rest) < prefix {
			return pos, Prefix
		}
		switch prefix {
		case 0:
			size = uint64(m & 15)
		case 1:
			size = uint64(rest[0])
		case 2:
			size = uint64(binary.BigEndian.Uint16(rest))
		case 4:
			size = uint64(binary.BigEndian.Uint32(rest))
		}
		pos += prefix
		slack -= int64(prefix)

		if c < bytes8 {
			// A map, each of whose pairs is two elements, or an array.
			if len(stack) >= maxDepth {
				return pos, Depth
			}
			if c <= map32 {
				size *= 2
			}
			if slack -= int64(size); slack < 0 {
				return pos, Elements
			}
			if size > 0 {
				stack = append(stack, owed)
				owed = size
			}
			continue
		}
		if c >= ext8 {
			size++ // the type
		}
		if size > uint64(len(b)-pos) {
			return pos, Bytes
		}
		pos += int(size)
		if slack -= int64(size); slack < 0 {
			return pos, Elements
		}
	}
}

// len64 is len in 64 bits: 2 * (2^32 - 1) elements must not wrap.
func len64(b []byte) int64 { return int64(len(b)) }
