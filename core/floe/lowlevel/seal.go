package lowlevel

import (
	"bytes"
	"math"

	"github.com/cachekit-go/cachekit/core/floe"
	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// A SharedSealer is a message that is being encrypted. It is safe for
// concurrent use.
type SharedSealer struct {
	params  floe.Params
	message *message.Message
}

// NewSealer starts a message, with the AEAD and the randomness of o. It fails
// with [floe.ErrKeyLength], [floe.ErrParamsMismatch], [floe.ErrAEAD] or
// [floe.ErrRandomness].
func NewSealer(key *floe.Key, aad []byte, p floe.Params, o floe.Options) (*SharedSealer, error) {
	if p == (floe.Params{}) {
		return nil, floe.ErrParamsMismatch
	}
	secret, err := secretOf(key)
	if err != nil {
		return nil, err
	}
	defer secret.Wipe()
	m, err := message.New(secret, bytes.Clone(aad), config(p, o))
	if err != nil {
		return nil, err
	}
	return &SharedSealer{p, m}, nil
}

// secretOf returns a copy of a key.
func secretOf(key *floe.Key) (*message.Secret, error) {
	b, err := key.AppendTo(make([]byte, 0, floe.KeySize))
	if err != nil {
		return nil, err
	}
	defer message.Wipe(b)
	return message.NewSecret(b), nil
}

func config(p floe.Params, o floe.Options) message.Config {
	return message.Config{SegmentLen: p.SegmentLen(), AEAD: o.AEAD, Rand: o.Rand}
}

// Header returns the header, with which the message begins.
func (s *SharedSealer) Header() floe.Header { return s.message.Header() }

// Params returns the parameters of the message.
func (s *SharedSealer) Params() floe.Params { return s.params }

// Fork returns a sealer of the message for one goroutine.
func (s *SharedSealer) Fork() *Sealer { return &Sealer{s.params, s.message.NewWorker(0)} }

// Close wipes the keys of the message. Its forks fail with [floe.ErrClosed]
// from then on; calls that have started finish.
func (s *SharedSealer) Close() { s.message.Close() }

// A Sealer seals segments of one message. It is not safe for concurrent use:
// each goroutine has a fork of its own.
//
// Its methods fail with [floe.ErrParamsMismatch] for a segment of another
// layout, with [floe.ErrClosed], and with [floe.ErrRandomness] or
// [floe.ErrAEAD] if those of the options do. Nothing is lost by a call that
// failed.
type Sealer struct {
	params floe.Params
	worker *message.Worker
}

// SealSegment seals plaintext as a segment and appends it to dst. It returns
// the extended slice. plaintext must have seg.PlaintextLen() bytes.
//
// The segment is sealed in place if plaintext lies exactly where its ciphertext
// will be, [floe.PayloadOffset] bytes behind len(dst); otherwise the room for
// the segment must not overlap plaintext.
//
// It fails with [floe.ErrPlaintextLength] or [floe.ErrOverlap] too. On error dst
// is returned as it was.
func (s *Sealer) SealSegment(dst, plaintext []byte, seg floe.Segment) ([]byte, error) {
	if err := s.check(seg, len(plaintext)); err != nil {
		return dst, err
	}
	out, room := message.Extend(dst, len(plaintext)+floe.Overhead)
	if message.Overlap(room[:floe.PayloadOffset], plaintext) || message.OverlapElsewhere(room[floe.PayloadOffset:], plaintext) {
		return dst, floe.ErrOverlap
	}
	if err := s.worker.Seal(room, seg.Position(), seg.IsFinal(), plaintext); err != nil {
		return dst, err
	}
	return out, nil
}

// SealInPlace seals the plaintext that lies in buf from [floe.PayloadOffset] on
// as a segment, and returns the segment: the first seg.CiphertextLen() bytes of
// buf, which may be longer. It fails with [floe.ErrOutputLength] if it is
// shorter.
func (s *Sealer) SealInPlace(buf []byte, seg floe.Segment) ([]byte, error) {
	if err := s.check(seg, int(seg.PlaintextLen())); err != nil {
		return nil, err
	}
	n := uint64(seg.CiphertextLen())
	if uint64(len(buf)) < n {
		return nil, &floe.LengthError{Kind: floe.ErrOutputLength, Actual: uint64(len(buf)), Min: n, Max: math.MaxUint64}
	}
	buf = buf[:n]
	plaintext := buf[floe.PayloadOffset : n-message.TagSize]
	if err := s.worker.Seal(buf, seg.Position(), seg.IsFinal(), plaintext); err != nil {
		return nil, err
	}
	return buf, nil
}

// check fails if seg is not of this message or the plaintext has another
// length.
func (s *Sealer) check(seg floe.Segment, n int) error {
	if seg.Params() != s.params {
		return floe.ErrParamsMismatch
	}
	if want := uint64(seg.PlaintextLen()); uint64(n) != want {
		return exactly(floe.ErrPlaintextLength, n, want)
	}
	return nil
}

func exactly(kind error, actual int, want uint64) error {
	return &floe.LengthError{Kind: kind, Actual: uint64(actual), Min: want, Max: want}
}
