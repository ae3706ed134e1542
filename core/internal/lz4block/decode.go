package lz4block

import "encoding/binary"

// What one turn of Decode's fast loop may touch.
const (
	fastIn  = 1 + 16 + 2 // bytes of src: the token, literals, offset and an extension
	fastOut = 14 + 32    // bytes of dst: literals, and a match of two chunks
)

// Len walks the block src and returns the length in bytes of its output without
// making it. It fails, with ok false, exactly when [Decode] into limit bytes
// does. Nothing is allocated.
func Len(src []byte, limit int) (n int, ok bool) {
	s, d := 0, 0
	for s < len(src) {
		token := src[s]
		s++
		lit := int(token >> 4)
		if lit == 15 {
			if lit, s, ok = extend(src, s, lit, limit-d); !ok {
				return 0, false
			}
		}
		if lit > len(src)-s || lit > limit-d {
			return 0, false
		}
		s += lit
		d += lit
		if s == len(src) {
			return d, true
		}
		if len(src)-s < 2 {
			return 0, false
		}
		offset := int(binary.LittleEndian.Uint16(src[s:]))
		s += 2
		if offset == 0 || offset > d {
			return 0, false
		}
		match := int(token & 15)
		if match == 15 {
			if match, s, ok = extend(src, s, match, limit-d); !ok {
				return 0, false
			}
		}
		match += minMatch
		if match > limit-d {
			return 0, false
		}
		d += match
	}
	return 0, false
}

// extend adds the length extension at src[s:] to n: bytes of 255 and one that
// is smaller. It fails if src ends first or the sum exceeds max.
func extend(src []byte, s, n, max int) (length, end int, ok bool) {
	for s < len(src) {
		c := src[s]
		s++
		n += int(c)
		if n > max {
			return 0, 0, false
		}
		if c != 255 {
			return n, s, true
		}
	}
	return 0, 0, false
}

// Decode decodes the block src into dst and returns the length in bytes of the
// output. It fails, with ok false, if the block breaks a rule or does not fit
// dst; an output shorter than dst is no fault. src and dst must not overlap.
// Behind the output, and on a fault everywhere, dst may hold anything.
//
// The rules, for each sequence: a token; its literals, which must fit src and
// dst. If src is now used up the block is complete, whatever the low half of
// the token says. Else an offset that is neither 0 nor beyond the output so
// far, and a match that must fit dst; it may overlap itself. Another sequence
// must follow a match: an empty block and one that ends on a match are invalid.
// The rules of the LZ4 text for the end of a block (the last five bytes are
// literals, no match in the last twelve) are not enforced.
//
// Spec section 1, decoder rules; LZ4 Block Format Description.
//
// Note: pierrec/lz4 refuses a nonzero half in the last token and accepts a
// block that ends on a match, so a walk by these rules would have to precede it.
// On 60,000 bytes of records that costs 415,000 instructions, this 235,000.
func Decode(dst, src []byte) (n int, ok bool) {
	dst, src = dst[:len(dst):len(dst)], src[:len(src):len(src)]
	s, d := 0, 0
	for {
		// Far from both ends whole chunks are copied whatever the length; the
		// surplus is overwritten by what follows. Slices of constant length,
		// and the tests for what is never negative, let the compiler see that
		// nothing can be out of range: it leaves its own checks out.
		for s >= 0 && s <= len(src)-fastIn && d >= 0 && d <= len(dst)-fastOut {
			in, out := src[s:s+fastIn:s+fastIn], dst[d:d+fastOut:d+fastOut]
			token := in[0]
			lit, match := int(token>>4), int(token&15)
			if lit == 15 {
				break
			}
			*(*[16]byte)(out) = *(*[16]byte)(in[1:])
			offset := int(in[lit+1]) | int(in[lit+2])<<8
			from := d + lit - offset
			if offset < 16 || from < 0 {
				break
			}
			m := dst[from : from+32 : from+32]
			*(*[16]byte)(out[lit : lit+16 : lit+16]) = *(*[16]byte)(m)
			*(*[16]byte)(out[lit+16 : lit+32 : lit+32]) = *(*[16]byte)(m[16:])
			if match != 15 {
				s += lit + 3
				d += lit + match + minMatch
				continue
			}
			more := int(in[lit+3])
			to := d + lit
			end := to + 15 + minMatch + more
			if more == 255 || end > len(dst)-16 {
				break
			}
			for to, from = to+32, from+32; to < end; to, from = to+16, from+16 {
				*(*[16]byte)(dst[to : to+16 : to+16]) = *(*[16]byte)(dst[from : from+16 : from+16])
			}
			s += lit + 4
			d = end
		}

		// One sequence with every check.
		if s >= len(src) {
			return 0, false
		}
		token := src[s]
		s++
		lit, match := int(token>>4), int(token&15)
		if lit == 15 {
			if lit, s, ok = extend(src, s, lit, len(dst)-d); !ok {
				return 0, false
			}
		}
		if lit > len(src)-s || lit > len(dst)-d {
			return 0, false
		}
		copy(dst[d:], src[s:s+lit])
		s += lit
		d += lit
		if s == len(src) {
			return d, true
		}
		if len(src)-s < 2 {
			return 0, false
		}
		offset := int(binary.LittleEndian.Uint16(src[s:]))
		s += 2
		if offset == 0 || offset > d {
			return 0, false
		}
		if match == 15 {
			if match, s, ok = extend(src, s, match, len(dst)-d); !ok {
				return 0, false
			}
		}
		if match += minMatch; match > len(dst)-d {
			return 0, false
		}
		copyMatch(dst, d, offset, match)
		d += match
	}
}

// copyMatch copies n bytes within dst from d-offset to d. A match that overlaps
// itself repeats its first offset bytes, so each round can copy twice as much.
func copyMatch(dst []byte, d, offset, n int) {
	from, end := d-offset, d+n
	for d < end {
		d += copy(dst[d:end], dst[from:d])
	}
}
