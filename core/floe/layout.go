package floe

import (
	"iter"
	"math"
	"math/bits"
)

// A Layout says where the segments of a message lie. It follows from the
// parameters and one length alone, and nothing in it is authenticated until the
// segments are opened. Layouts are comparable; the zero value has no segments.
//
// Spec section 4.
type Layout struct {
	params     Params
	segments   uint64
	plaintext  uint64
	ciphertext uint64
}

// PlaintextLayout returns the layout of a message with n bytes of plaintext.
// The framing is canonical: as few segments as possible, and one for the empty
// message.
//
// It fails with [ErrSegmentLimit] if 2^40 segments do not hold n bytes, with
// [ErrOverflow] if the message's length does not fit 64 bits, and with
// [ErrParamsMismatch] for the zero value of p.
func (p Params) PlaintextLayout(n uint64) (Layout, error) {
	if err := p.check(); err != nil {
		return Layout{}, err
	}
	full := uint64(p.SegmentPlaintextLen())
	segments := max(1, n/full)
	if n > full && n%full > 0 {
		segments++
	}
	return p.layout(segments, n)
}

// layout returns the layout of so many segments with n bytes of plaintext.
func (p Params) layout(segments, n uint64) (Layout, error) {
	if segments > MaxSegments {
		return Layout{}, ErrSegmentLimit
	}
	// 2^40 segments have 2^45 bytes of overhead.
	total, carry := bits.Add64(n, HeaderSize+segments*Overhead, 0)
	if carry > 0 {
		return Layout{}, ErrOverflow
	}
	return Layout{p, segments, n, total}, nil
}

// CiphertextLayout returns the layout of a message of n bytes, header included.
// Here the last segment may be empty also if others precede it.
//
// It fails with [ErrHeaderLength] if n is less than a header, [ErrTruncated] if
// it is a header alone, [ErrCiphertextLength] if what remains for the last
// segment is less than one, [ErrSegmentLimit], and [ErrParamsMismatch] for the
// zero value of p.
func (p Params) CiphertextLayout(n uint64) (Layout, error) {
	if err := p.check(); err != nil {
		return Layout{}, err
	}
	if n < HeaderSize {
		return Layout{}, atLeast(ErrHeaderLength, n, HeaderSize)
	}
	if n == HeaderSize {
		return Layout{}, ErrTruncated
	}
	body, full := n-HeaderSize, uint64(p.segmentLen)
	segments, last := body/full, body%full
	if last > 0 {
		segments++
		if last < Overhead {
			return Layout{}, between(ErrCiphertextLength, last, Overhead, full)
		}
	}
	return p.layout(segments, body-segments*Overhead)
}

// Params returns the parameters.
func (l Layout) Params() Params { return l.params }

// PlaintextLen returns the length of the plaintext in bytes.
func (l Layout) PlaintextLen() uint64 { return l.plaintext }

// CiphertextLen returns the length of the message in bytes, header included.
func (l Layout) CiphertextLen() uint64 { return l.ciphertext }

// SegmentCount returns the number of segments.
func (l Layout) SegmentCount() uint64 { return l.segments }

// Segment returns the segment at a position, counted from 0. It reports false
// if the message has none there.
func (l Layout) Segment(position uint64) (Segment, bool) {
	if position >= l.segments {
		return Segment{}, false
	}
	full := uint64(l.params.SegmentPlaintextLen())
	s := Segment{params: l.params, position: position, plaintextLen: uint32(full)}
	if position == l.segments-1 {
		s.final = true
		s.plaintextLen = uint32(l.plaintext - position*full)
	}
	return s, true
}

// Final returns the last segment, and the zero value for the zero value of l.
func (l Layout) Final() Segment {
	s, _ := l.Segment(l.segments - 1)
	return s
}

// Segments returns all segments in order.
func (l Layout) Segments() iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for i := range l.segments {
			if s, _ := l.Segment(i); !yield(s) {
				return
			}
		}
	}
}

// Backward returns all segments from the last to the first.
func (l Layout) Backward() iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for i := l.segments; i > 0; i-- {
			if s, _ := l.Segment(i - 1); !yield(s) {
				return
			}
		}
	}
}

// A Segment is a place in a message. The zero value is none.
type Segment struct {
	params       Params
	position     uint64
	plaintextLen uint32
	final        bool
}

// Params returns the parameters of the message.
func (s Segment) Params() Params { return s.params }

// Position returns the number of the segment, counted from 0.
func (s Segment) Position() uint64 { return s.position }

// IsFinal reports whether the segment is the last.
func (s Segment) IsFinal() bool { return s.final }

// PlaintextOffset returns where in the plaintext the segment's begins.
func (s Segment) PlaintextOffset() uint64 {
	return s.position * uint64(s.params.SegmentPlaintextLen())
}

// PlaintextLen returns the length of the segment's plaintext in bytes.
func (s Segment) PlaintextLen() uint32 { return s.plaintextLen }

// CiphertextOffset returns where in the message the segment begins. The header
// is part of the message.
func (s Segment) CiphertextOffset() uint64 {
	return HeaderSize + s.position*uint64(s.params.segmentLen)
}

// CiphertextLen returns the length of the segment in bytes, and 0 for the zero
// value.
func (s Segment) CiphertextLen() uint32 {
	if s.params.segmentLen == 0 {
		return 0
	}
	return s.plaintextLen + Overhead
}

// SealedLen returns the length in bytes of the message that [Seal] makes of n
// bytes. It fails as [Params.PlaintextLayout] does, and with [ErrOverflow] if
// the length does not fit an int.
func SealedLen(p Params, n int) (int, error) {
	if n < 0 {
		return 0, ErrOverflow
	}
	l, err := p.PlaintextLayout(uint64(n))
	if err != nil {
		return 0, err
	}
	if l.ciphertext > math.MaxInt {
		return 0, ErrOverflow
	}
	return int(l.ciphertext), nil
}
