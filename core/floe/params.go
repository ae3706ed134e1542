package floe

import (
	"encoding/binary"
	"fmt"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// The lengths of the format in bytes, and how many segments a message has at
// most. Spec section 1.
const (
	// HeaderSize is the length of a [Header]: 74.
	HeaderSize = message.HeaderSize
	// Overhead is by how much each segment is longer than its plaintext: 32.
	Overhead = message.Overhead
	// PayloadOffset is where in a segment its ciphertext starts, at 16. Who
	// seals or opens in place has the plaintext there.
	PayloadOffset = message.PayloadOffset
	// MinSegmentLen is the least length of a full segment: 64.
	MinSegmentLen = message.MinSegmentLen
	// MaxSegmentLen is the greatest length of a full segment: 2^32 - 2.
	MaxSegmentLen = message.MaxSegmentLen
	// MaxSegments is the greatest number of segments: 2^40.
	MaxSegments = message.MaxSegments
)

// Params are the parameters of a message. Today only the length of its full
// segments can be chosen: long ones cost less for each byte, short ones less
// for each random access, and a stream holds one in memory. Params are
// comparable; the zero value is invalid.
//
// Spec section 1.
type Params struct {
	segmentLen uint32
	// rotation is message.Config's, and 0 except in tests.
	rotation uint8
}

// Parameters by the length of a full segment.
var (
	Params64B   = Params{segmentLen: 64}
	Params4KiB  = Params{segmentLen: 4 << 10}
	Params1MiB  = Params{segmentLen: 1 << 20}
	Params4MiB  = Params{segmentLen: 4 << 20}
	Params5MiB  = Params{segmentLen: 5 << 20}
	Params8MiB  = Params{segmentLen: 8 << 20}
	Params16MiB = Params{segmentLen: 16 << 20}
)

// NewParams returns parameters with full segments of segmentLen bytes, of which
// [Overhead] are not plaintext. Any length from [MinSegmentLen] to
// [MaxSegmentLen] will do; it fails with [ErrSegmentLength] otherwise.
func NewParams(segmentLen uint32) (Params, error) {
	if segmentLen < MinSegmentLen || segmentLen > MaxSegmentLen {
		return Params{}, between(ErrSegmentLength, uint64(segmentLen), MinSegmentLen, MaxSegmentLen)
	}
	return Params{segmentLen: segmentLen}, nil
}

// SegmentLen returns the length of a full segment in bytes, and 0 for the zero
// value.
func (p Params) SegmentLen() uint32 { return p.segmentLen }

// SegmentPlaintextLen returns how many bytes of plaintext a full segment has,
// and 0 for the zero value.
func (p Params) SegmentPlaintextLen() uint32 {
	if p.segmentLen == 0 {
		return 0
	}
	return p.segmentLen - Overhead
}

// String returns the segment length in words.
func (p Params) String() string { return fmt.Sprintf("segments of %d bytes", p.segmentLen) }

// check fails with ErrParamsMismatch for the zero value.
func (p Params) check() error {
	if p.segmentLen == 0 {
		return ErrParamsMismatch
	}
	return nil
}

// A Framing is what the first four bytes of a segment say.
type Framing struct {
	Final bool   // no segment follows
	Len   uint32 // of the segment in bytes, prefix included
}

// DecodePrefix returns the framing of a segment that begins with prefix. It
// fails with [ErrCiphertextLength] for one that no segment has, and with
// [ErrParamsMismatch] for the zero value of p.
//
// The prefix is not authenticated until the segment is opened. Spec section 4.
func (p Params) DecodePrefix(prefix [4]byte) (Framing, error) {
	if err := p.check(); err != nil {
		return Framing{}, err
	}
	v := binary.BigEndian.Uint32(prefix[:])
	if v == message.NonFinal {
		return Framing{Len: p.segmentLen}, nil
	}
	if v < Overhead || v > p.segmentLen {
		return Framing{}, between(ErrCiphertextLength, uint64(v), Overhead, uint64(p.segmentLen))
	}
	return Framing{Final: true, Len: v}, nil
}

// A Header is what a message begins with: its parameters, its IV and a tag over
// both and the additional data. Spec section 2.
type Header [HeaderSize]byte

// ParseHeader returns the header with the bytes of b. It fails with
// [ErrHeaderLength] unless b has [HeaderSize] bytes, and checks nothing else.
func ParseHeader(b []byte) (Header, error) {
	if len(b) != HeaderSize {
		return Header{}, exactly(ErrHeaderLength, uint64(len(b)), HeaderSize)
	}
	return Header(b), nil
}

// Params returns the parameters that the header announces. They are not
// authenticated: anyone can write them. It fails with [ErrHeaderParams] for
// those that are not supported.
func (h Header) Params() (Params, error) { return h.accept(Params{}) }

// accept returns the header's parameters, which must be those required, if any
// are.
func (h Header) accept(require Params) (Params, error) {
	n, err := message.AcceptParams(h, require.segmentLen)
	if err != nil {
		return Params{}, err
	}
	return Params{segmentLen: n, rotation: require.rotation}, nil
}
