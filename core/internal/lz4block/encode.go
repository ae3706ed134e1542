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

	// The multiplier takes the low six bytes of a word, and only those, to the
	// high bits of the product. It is that of the LZ4 library and of pierrec/lz4.
	hash6 uint64 = 227718039650203 << 16 & (1<<64 - 1)
)

// slots are the hash tables. A table maps a hash of six bytes to the position
// at which it was last seen. An entry that another hash wrote points to some
// other place: the bytes there decide. An empty entry points to position 0. Large
// tables find more and better matches, small ones are cleared sooner and leave
// more of the first cache to the input.
//
// A table is an array and not a slice so that the compiler makes one encoder for
// each size, in which shift counts and bounds are constants.
type slots[E uint16 | uint32] interface {
	[1 << 10]E | [1 << 11]E | [1 << 13]E | [1 << 14]E | [1 << 15]E
}

// Tables are reused, and cleared at each use, so that what is written never
// depends on what was written before. They hold positions, not data.
var (
	tables      = sync.Pool{New: func() any { return new([1 << 14]uint16) }} // 32 KiB
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
	if n < minInput {
		return literals(dst, src)
	}
	if n > 64<<10 {
		t := largeTables.Get().(*[1 << 15]uint32)
		clear(t[:])
		n = encode[uint32](dst, src, t)
		largeTables.Put(t)
		return n
	}
	t := tables.Get().(*[1 << 14]uint16)
	switch {
	case n <= 256:
		t := (*[1 << 10]uint16)(t[:])
		clear(t[:])
		n = encode[uint16](dst, src, t)
	case n <= 1024:
		t := (*[1 << 11]uint16)(t[:])
		clear(t[:])
		n = encode[uint16](dst, src, t)
	case n <= 8<<10:
		t := (*[1 << 13]uint16)(t[:])
		clear(t[:])
		n = encode[uint16](dst, src, t)
	default:
		clear(t[:])
		n = encode[uint16](dst, src, t)
	}
	tables.Put(t)
	return n
}

// minInput is the shortest input in bytes that may hold a match: none starts at
// position 0, nor in the last bytes.
const minInput = 1 + matchLimit

// margin is how many bytes before the end of the input body stops. A match of 20
// bytes from the last position that body looks at, two behind, ends where the
// last literals begin.
const margin = 2 + 20 + lastLiterals

// encode is Encode for inputs in which a match is possible, with a cleared table.
func encode[E uint16 | uint32, T slots[E]](dst, src []byte, t *T) int {
	out, in := viewOf(dst), viewOf(src)
	next, anchor, i := body[E](out, in, len(src)-margin, t, hash6)
	next, anchor = ending[E](next, in, anchor, i, len(src), t)
	d := next.since(out)
	return d + literals(dst[d:], src[anchor:])
}

// body encodes to out until it would look at a position behind last. It returns
// what lies behind the output, where in the input that ends, and where to look
// next.
//
// It is greedy: the first match found is taken, extended both ways, and the
// search goes on behind it. In inputs over 1,024 bytes the step of the search
// grows with the distance from the last match, so that what does not compress is
// passed over.
//
// All accesses are in range. Reads: positions up to last+2 are looked at, which
// is margin-2 = 25 bytes before the end of the input; a candidate is before
// them, and neither is followed for more than 20 bytes without a test for the
// end. Writes: a sequence is no longer than what it stands for, but for one byte
// in 255 literals, so the output is at most anchor + anchor/255 bytes, and the 17
// bytes written behind it end before Bound does.
//
// The time goes by how soon the next position is known, and by what the compiler
// keeps in registers. Therefore: the multiplier is an argument, for a constant is
// loaded at each use; each position's word is loaded and not shifted out of one;
// words at ref are read by constant displacements, before anything else is done
// with the match; values that live through the loop are few.
//
// Note: two words of a match compared without a branch between take a fifth more
// time at 64 KiB, as does a call for matches over 20 bytes. Tables half as large
// are no faster, and leave text of 64 KiB 0.039 above pierrec's ratio. With the
// position one or three before the end of a match entered instead of that two
// before, or none, binary data is up to 0.05 above it; with five bytes hashed, an
// alphabet of two letters 0.09; with a step that grows by 128 bytes, not 256, some
// windows of executables 0.04. Of 120,000 windows of 100 bytes to 200 kB from three
// executables 15 are more than 0.03 above, ten of these at most 200 bytes long and
// short of one or two matches; the mean is 0.012 below.
func body[E uint16 | uint32, T slots[E]](out, in view, last int, t *T, mul uint64) (next view, anchor, i int) {
	var (
		small = len(*t) <= 1<<11
		large = len(*t) == 1<<15
		shift = 64 - bits.Len(uint(len(*t)-1))
		stop  = last + margin - lastLiterals
	)
	if last < 1 {
		return out, 0, 1
	}
	for i = 1; ; {
		var ref int
		for {
			v := in.load64(i)
			h := v * mul >> shift
			ref = int((*t)[h])
			(*t)[h] = E(i)
			if in.load32(ref) == uint32(v) {
				break
			}
			v = in.load64(i + 1)
			h = v * mul >> shift
			ref = int((*t)[h])
			(*t)[h] = E(i + 1)
			if in.load32(ref) == uint32(v) {
				i++
				break
			}
			v = in.load64(i + 2)
			h = v * mul >> shift
			ref = int((*t)[h])
			(*t)[h] = E(i + 2)
			if in.load32(ref) == uint32(v) {
				i += 2
				break
			}
			if i += 3; !small {
				i += (i - 1 - anchor) >> 8
			}
			if i > last {
				return out, anchor, i
			}
		}
		start := i
		offset := i - ref
		if large && offset > maxOffset {
			if i++; i > last {
				return out, anchor, i
			}
			continue
		}
		if x := in.load64(i+4) ^ in.load64(ref+4); x != 0 {
			i += 4 + bits.TrailingZeros64(x)>>3
		} else if x := in.load64(i+12) ^ in.load64(ref+12); x != 0 {
			i += 12 + bits.TrailingZeros64(x)>>3
		} else {
			i += 20
			for {
				if i > stop-16 {
					for i < stop && in.load8(i) == in.load8(i-offset) {
						i++
					}
					break
				}
				ref := i - offset
				if x := in.load64(i) ^ in.load64(ref); x != 0 {
					i += bits.TrailingZeros64(x) >> 3
					break
				}
				if x := in.load64(i+8) ^ in.load64(ref+8); x != 0 {
					i += 8 + bits.TrailingZeros64(x)>>3
					break
				}
				i += 16
			}
		}
		for start > anchor && ref > 0 && in.load8(start-1) == in.load8(ref-1) {
			start--
			ref--
		}
		lit, n := start-anchor, i-start-minMatch
		if i > last {
			return sequence(out, in, anchor, start, offset, n), i, i
		}
		(*t)[in.load64(i-2)*mul>>shift] = E(i - 2)
		if lit >= 15 {
			out = sequence(out, in, anchor, start, offset, n)
			anchor = i
			continue
		}
		*out.chunk(1) = *in.chunk(anchor)
		anchor = i
		out.store16(1+lit, uint16(offset))
		if n >= 15 {
			out.store8(0, byte(lit<<4|15))
			out = extend255(out.from(3+lit), n-15)
			continue
		}
		out.store8(0, byte(lit<<4|n))
		out = out.from(3 + lit)
	}
}

// ending goes on from where body stopped, one position at a time, up to the last
// at which a match may start. It returns what lies behind the output, and
// where in the input that ends.
func ending[E uint16 | uint32, T slots[E]](out, in view, anchor, i, size int, t *T) (view, int) {
	shift := 64 - bits.Len(uint(len(*t)-1))
	for i <= size-matchLimit {
		v := in.load64(i)
		h := v * hash6 >> shift
		ref := int((*t)[h])
		(*t)[h] = E(i)
		offset := i - ref
		if in.load32(ref) != uint32(v) || offset > maxOffset {
			i++
			continue
		}
		start := i
		i += minMatch
		for i < size-lastLiterals && in.load8(i) == in.load8(i-offset) {
			i++
		}
		for start > anchor && ref > 0 && in.load8(start-1) == in.load8(ref-1) {
			start--
			ref--
		}
		out = sequence(out, in, anchor, start, offset, i-start-minMatch)
		anchor = i
	}
	return out, anchor
}

// sequence writes any sequence to out and returns what lies behind it: the
// literals from anchor to start, an offset, and a match of n bytes above the
// least.
func sequence(out, in view, anchor, start, offset, n int) view {
	lit := start - anchor
	out.store8(0, byte(min(lit, 15)<<4|min(n, 15)))
	out = out.from(1)
	if lit >= 15 {
		out = extend255(out, lit-15)
	}
	out.copy(in, anchor, lit)
	out.store16(lit, uint16(offset))
	out = out.from(lit + 2)
	if n >= 15 {
		out = extend255(out, n-15)
	}
	return out
}

// extend255 writes to out the part n of a length that the token has no room for
// and returns what lies behind it.
func extend255(out view, n int) view {
	for ; n >= 255; n -= 255 {
		out.store8(0, 255)
		out = out.from(1)
	}
	out.store8(0, byte(n))
	return out.from(1)
}

// literals writes a token without a match and the literals, and returns their
// length.
func literals(dst, lits []byte) int {
	n, d := len(lits), 1
	dst[0] = byte(min(n, 15) << 4)
	if n >= 15 {
		out := viewOf(dst)
		d = extend255(out.from(1), n-15).since(out)
	}
	return d + copy(dst[d:], lits)
}
