package lz4block

import (
	"math/bits"
	"sync"
)

// The rules of the LZ4 text for the end of a block. Decode does not ask for
// them, but other decoders may.
const (
	lastLiterals = 5  // the last bytes are literals
	matchLimit   = 12 // no match starts in the last bytes
)

const (
	maxOffset = 65535 // bytes that a match may reach back

	// Multipliers that take the low five or six bytes of a word, and only
	// those, to the high bits of the product. They are those of the LZ4 library
	// and of pierrec/lz4.
	hash5 uint64 = 889523592379 << 24 & (1<<64 - 1)
	hash6 uint64 = 227718039650203 << 16 & (1<<64 - 1)
)

// slots are the hash tables. A table maps a hash of a few bytes to the position
// at which it was last seen. An entry that another hash wrote points to some
// other place: the bytes there decide. An empty entry points to position 0. Large
// tables find more and better matches, small ones are cleared sooner.
//
// A table is an array and not a slice so that the compiler makes one encoder for
// each size, in which shift counts and bounds are constants.
type slots interface {
	[1 << 9]uint32 | [1 << 10]uint32 | [1 << 12]uint32 | [1 << 13]uint32 | [1 << 15]uint32
}

// Tables are reused, and cleared at each use, so that what is written never
// depends on what was written before. They hold positions, not data.
var (
	smallTables = sync.Pool{New: func() any { return new([1 << 12]uint32) }} // 16 KiB
	largeTables = sync.Pool{New: func() any { return new([1 << 15]uint32) }} // 128 KiB
)

// Bound returns the most bytes that [Encode] writes for n bytes.
func Bound(n int) int { return n + n/255 + 16 }

// Encode compresses src into one block in dst and returns the block's length in
// bytes. It panics if dst is shorter than [Bound] says; they must not overlap.
// Equal inputs give equal blocks. An input that does not compress gives a block
// that is longer than the input, within the bound.
//
// LZ4 Block Format Description, with its rules for the end of a block.
func Encode(dst, src []byte) int {
	if len(dst) < Bound(len(src)) {
		panic("lz4block: destination is shorter than Bound")
	}
	n := len(src)
	if n <= 8<<10 {
		t := smallTables.Get().(*[1 << 12]uint32)
		defer smallTables.Put(t)
		switch {
		case n < minInput:
			return literals(dst, src)
		case n <= 256:
			return encode(dst, src, (*[1 << 9]uint32)(t[:]))
		case n <= 1024:
			return encode(dst, src, (*[1 << 10]uint32)(t[:]))
		default:
			return encode(dst, src, t)
		}
	}
	t := largeTables.Get().(*[1 << 15]uint32)
	defer largeTables.Put(t)
	if n <= 64<<10 {
		return encode(dst, src, (*[1 << 13]uint32)(t[:]))
	}
	return encode(dst, src, t)
}

// minInput is the shortest input in bytes that may hold a match: encode looks
// at position 1 and reads 16 bytes from where it looks.
const minInput = 17

// encode is Encode for inputs in which a match is possible.
//
// It is greedy: the first match found is taken, extended both ways, and the
// search goes on behind it. The step of the search grows with the distance from
// the last match, so that what does not compress is passed over.
//
// All accesses are in range. Reads: i <= last, and a candidate is before i; a
// chunk of literals is read only up to last-1+16 = len(src). Writes: a sequence
// is no longer than what it stands for, but for one byte in 255 literals, so
// d <= anchor + anchor/255, and the 17 bytes written at d end before Bound does.
//
// Note: entering the position two before the end of a match into the table, as
// other encoders do, costs 6 % more instructions on records; the one behind a
// match's start, 5 %. Both gain less than 0.01 of the ratio. A fourth position
// from the same load gains nothing. Hashing six bytes of small inputs too costs
// binary data 0.05 of the ratio.
func encode[T slots](dst, src []byte, t *T) int {
	var empty T
	*t = empty
	// Where 64 KiB lie behind, a match of five bytes is found almost anywhere,
	// and a longer one is worth more.
	large := len(*t) == 1<<15
	mul := hash5
	if large {
		mul = hash6
	}
	shift := 64 - bits.Len(uint(len(*t)-1))

	var (
		in, out = viewOf(src), viewOf(dst)
		anchor  = 0 // src[:anchor] is encoded
		d       = 0 // into dst[:d]
		i       = 1 // the position that is looked at
		last    = len(src) - matchLimit - 3
		stop    = len(src) - lastLiterals
	)
	for i <= last {
		// Three positions from one load.
		v := in.load64(i)
		h := v * mul >> shift
		ref := int((*t)[h])
		(*t)[h] = uint32(i)
		if in.load32(ref) != uint32(v) {
			v >>= 8
			i++
			h = v * mul >> shift
			ref = int((*t)[h])
			(*t)[h] = uint32(i)
			if in.load32(ref) != uint32(v) {
				v >>= 8
				i++
				h = v * mul >> shift
				ref = int((*t)[h])
				(*t)[h] = uint32(i)
				if in.load32(ref) != uint32(v) {
					i += 1 + (i-anchor)>>7
					continue
				}
			}
		}
		if large && i-ref > maxOffset {
			i++
			continue
		}
		end := i + minMatch
		from := ref + minMatch
		for i > anchor && ref > 0 && in.load8(i-1) == in.load8(ref-1) {
			i--
			ref--
		}
		// The match from i and ref goes on at end and from. Two words for each
		// test of the end: long runs take two thirds of the instructions.
		for {
			if end > stop-16 {
				end = tail(in, end, from, stop)
				break
			}
			if x := in.load64(end) ^ in.load64(from); x != 0 {
				end += bits.TrailingZeros64(x) >> 3
				break
			}
			if x := in.load64(end+8) ^ in.load64(from+8); x != 0 {
				end += 8 + bits.TrailingZeros64(x)>>3
				break
			}
			end += 16
			from += 16
		}

		lit, n := i-anchor, end-i-minMatch
		if lit < 15 && anchor <= last-1 {
			*out.chunk(d + 1) = *in.chunk(anchor)
			out.store16(d+1+lit, uint16(i-ref))
			if n < 15 {
				out.store8(d, byte(lit<<4|n))
				d += 3 + lit
			} else {
				out.store8(d, byte(lit<<4|15))
				d += 3 + lit
				d += extension(dst[d:], n-15)
			}
		} else {
			d += long(dst[d:], src[anchor:i], i-ref, n)
		}
		i, anchor = end, end
	}
	return d + literals(dst[d:], src[anchor:])
}

// tail extends a match within the last 16 bytes before stop and returns its end.
func tail(in view, end, from, stop int) int {
	if end <= stop-8 {
		if x := in.load64(end) ^ in.load64(from); x != 0 {
			return end + bits.TrailingZeros64(x)>>3
		}
		end += 8
		from += 8
	}
	for end < stop && in.load8(end) == in.load8(from) {
		end++
		from++
	}
	return end
}

// long writes a sequence whose literals do not fit the short way of encode, and
// returns its length.
func long(dst, lits []byte, offset, n int) int {
	d := literals(dst, lits)
	dst[0] |= byte(min(n, 15))
	dst[d], dst[d+1] = byte(offset), byte(offset>>8)
	d += 2
	if n >= 15 {
		d += extension(dst[d:], n-15)
	}
	return d
}

// extension writes the part n of a length that the token has no room for and
// returns how many bytes it takes.
func extension(dst []byte, n int) int {
	d := 0
	for ; n >= 255; n -= 255 {
		dst[d] = 255
		d++
	}
	dst[d] = byte(n)
	return d + 1
}

// literals writes a token without a match and the literals, and returns their
// length.
func literals(dst, lits []byte) int {
	n, d := len(lits), 1
	dst[0] = byte(min(n, 15) << 4)
	if n >= 15 {
		d += extension(dst[1:], n-15)
	}
	return d + copy(dst[d:], lits)
}
