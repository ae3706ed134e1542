package lowlevel

import (
	"fmt"

	"github.com/cachekit-go/cachekit/core/floe"
	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// A SegmentBuffer is memory for one segment that is sealed and opened in place.
// It knows whether it holds a plaintext, a segment or nothing, so that neither
// is taken for the other, and wipes what it held before it holds something
// else. Its memory grows to the longest it has held, and is used again. It is
// not safe for concurrent use.
type SegmentBuffer struct {
	params floe.Params
	buf    []byte
	n      int // of the plaintext, or in the segment
	state  bufferState
}

type bufferState uint8

const (
	empty bufferState = iota
	plaintext
	ciphertext
)

// NewSegmentBuffer returns an empty buffer for segments of a message with the
// parameters p.
func NewSegmentBuffer(p floe.Params) *SegmentBuffer { return &SegmentBuffer{params: p} }

// PreparePlaintext makes the buffer hold a plaintext of n bytes, which are zero,
// and returns them to be filled. It fails with [floe.ErrPlaintextLength] if no
// segment has so many; then the buffer keeps what it holds.
func (b *SegmentBuffer) PreparePlaintext(n int) ([]byte, error) {
	if most := uint64(b.params.SegmentPlaintextLen()); n < 0 || uint64(n) > most {
		return nil, &floe.LengthError{Kind: floe.ErrPlaintextLength, Actual: uint64(max(n, 0)), Max: most}
	}
	b.prepare(n, plaintext)
	return b.Plaintext()
}

// PrepareCiphertext makes the buffer hold a segment of n bytes, which are zero,
// and returns them to be filled. It fails with [floe.ErrCiphertextLength] if no
// segment has so many; then the buffer keeps what it holds.
func (b *SegmentBuffer) PrepareCiphertext(n int) ([]byte, error) {
	if most := uint64(b.params.SegmentLen()); n < floe.Overhead || uint64(n) > most {
		return nil, &floe.LengthError{Kind: floe.ErrCiphertextLength, Actual: uint64(max(n, 0)), Min: floe.Overhead, Max: most}
	}
	b.prepare(n-floe.Overhead, ciphertext)
	return b.Ciphertext()
}

func (b *SegmentBuffer) prepare(n int, s bufferState) {
	b.Clear()
	if len(b.buf) < n+floe.Overhead {
		b.buf = make([]byte, n+floe.Overhead)
	}
	b.n, b.state = n, s
}

// Plaintext returns the plaintext that the buffer holds, not a copy. It fails
// with [floe.ErrBufferState] if it holds none.
func (b *SegmentBuffer) Plaintext() ([]byte, error) {
	if b.state != plaintext {
		return nil, floe.ErrBufferState
	}
	return b.buf[floe.PayloadOffset : floe.PayloadOffset+b.n : floe.PayloadOffset+b.n], nil
}

// Ciphertext returns the segment that the buffer holds, not a copy. It fails
// with [floe.ErrBufferState] if it holds none.
func (b *SegmentBuffer) Ciphertext() ([]byte, error) {
	if b.state != ciphertext {
		return nil, floe.ErrBufferState
	}
	n := b.n + floe.Overhead
	return b.buf[:n:n], nil
}

// Clear wipes the buffer and leaves it empty.
func (b *SegmentBuffer) Clear() {
	if b.state != empty {
		message.Wipe(b.buf[:b.n+floe.Overhead])
	}
	b.n, b.state = 0, empty
}

// Format prints the state and no byte of the buffer, whatever the verb.
func (b *SegmentBuffer) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "SegmentBuffer{%s, %d bytes}", [...]string{"empty", "plaintext", "ciphertext"}[b.state], b.n)
}

// SealBuffer seals the plaintext in b as a segment, which b holds then. It fails
// with [floe.ErrBufferState] if b holds no plaintext, and with
// [floe.ErrPlaintextLength] if that has not seg.PlaintextLen() bytes. A buffer
// that is refused keeps what it holds; if sealing itself fails it is wiped.
func (s *Sealer) SealBuffer(b *SegmentBuffer, seg floe.Segment) error {
	if b.params != s.params {
		return floe.ErrParamsMismatch
	}
	if b.state != plaintext {
		return floe.ErrBufferState
	}
	if err := s.check(seg, b.n); err != nil {
		return err
	}
	if _, err := s.SealInPlace(b.buf, seg); err != nil {
		b.Clear()
		return err
	}
	b.state = ciphertext
	return nil
}

// OpenBuffer opens the segment in b, whose plaintext b holds then. It fails with
// [floe.ErrBufferState] if b holds no segment. On any error b is wiped, and
// empty.
func (o *Opener) OpenBuffer(b *SegmentBuffer, seg floe.Segment) error {
	err := o.openBuffer(b, seg)
	if err != nil {
		b.Clear()
	}
	return err
}

func (o *Opener) openBuffer(b *SegmentBuffer, seg floe.Segment) error {
	if b.params != o.params {
		return floe.ErrParamsMismatch
	}
	segment, err := b.Ciphertext()
	if err != nil {
		return err
	}
	if err := o.check(segment, seg); err != nil {
		return err
	}
	if _, err := o.OpenInPlace(segment, seg); err != nil {
		return err
	}
	b.state = plaintext
	return nil
}
