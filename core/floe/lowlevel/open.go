package lowlevel

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/cachekit-go/cachekit/core/floe"
	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// A SharedOpener is a message that is being decrypted. It is safe for
// concurrent use.
type SharedOpener struct {
	params  floe.Params
	message *message.Message
}

// NewOpener starts the decryption of the message with the header, with the AEAD
// of o. If o.Require is set, the header must have those parameters; otherwise
// they are the header's.
//
// It fails with [floe.ErrKeyLength], [floe.ErrHeaderParams],
// [floe.ErrHeaderTag] or [floe.ErrAEAD].
func NewOpener(key *floe.Key, aad []byte, h floe.Header, o floe.Options) (*SharedOpener, error) {
	p, err := h.Params()
	if err != nil {
		return nil, err
	}
	if o.Require != (floe.Params{}) && o.Require != p {
		return nil, floe.ErrHeaderParams
	}
	secret, err := secretOf(key)
	if err != nil {
		return nil, err
	}
	defer secret.Wipe()
	m, err := message.Open(secret, bytes.Clone(aad), h, config(p, o))
	if err != nil {
		return nil, err
	}
	return &SharedOpener{p, m}, nil
}

// Header returns the header.
func (o *SharedOpener) Header() floe.Header { return o.message.Header() }

// Params returns the parameters of the message, which are authentic.
func (o *SharedOpener) Params() floe.Params { return o.params }

// Fork returns an opener of the message for one goroutine.
func (o *SharedOpener) Fork() *Opener { return &Opener{o.params, o.message.NewWorker(0)} }

// Close wipes the keys of the message. Its forks fail with [floe.ErrClosed]
// from then on; calls that have started finish.
func (o *SharedOpener) Close() { o.message.Close() }

// An Opener opens segments of one message. It is not safe for concurrent use:
// each goroutine has a fork of its own.
//
// Its methods fail with [floe.ErrParamsMismatch] for a segment of another
// layout, [floe.ErrCiphertextLength] for one of another length or with the
// prefix of one, [floe.ErrSegmentPrefix] if it is not the final one and its
// prefix says that it is, [floe.ErrAuthentication], [floe.ErrClosed], and
// [floe.ErrAEAD] if that of the options does.
type Opener struct {
	params floe.Params
	worker *message.Worker
}

// OpenSegment opens a segment and appends the plaintext to dst. It returns the
// extended slice. segment must have seg.CiphertextLen() bytes.
//
// The segment is opened in place, and lost, if dst is
// segment[floe.PayloadOffset:floe.PayloadOffset]; otherwise the room for the
// plaintext must not overlap segment, and it fails with [floe.ErrOverlap]. On
// error dst is returned as it was, and the room behind it holds no plaintext.
func (o *Opener) OpenSegment(dst, segment []byte, seg floe.Segment) ([]byte, error) {
	if err := o.check(segment, seg); err != nil {
		return dst, err
	}
	out, room := message.Extend(dst, int(seg.PlaintextLen()))
	if message.Overlap(room, segment[:floe.PayloadOffset]) || message.OverlapElsewhere(room, segment[floe.PayloadOffset:]) {
		return dst, floe.ErrOverlap
	}
	if err := o.worker.Open(room, seg.Position(), seg.IsFinal(), segment); err != nil {
		return dst, err
	}
	return out, nil
}

// OpenInPlace opens the segment that the first seg.CiphertextLen() bytes of buf
// are, and returns the plaintext, which then lies in buf from
// [floe.PayloadOffset] on. On error none is there, and the segment is lost.
func (o *Opener) OpenInPlace(buf []byte, seg floe.Segment) ([]byte, error) {
	n := uint64(seg.CiphertextLen())
	if seg.Params() == o.params && uint64(len(buf)) < n {
		return nil, &floe.LengthError{Kind: floe.ErrCiphertextLength, Actual: uint64(len(buf)), Min: n, Max: math.MaxUint64}
	}
	buf = buf[:min(n, uint64(len(buf)))]
	if err := o.check(buf, seg); err != nil {
		return nil, err
	}
	plaintext := buf[floe.PayloadOffset : n-message.TagSize]
	if err := o.worker.Open(plaintext, seg.Position(), seg.IsFinal(), buf); err != nil {
		return nil, err
	}
	return plaintext, nil
}

// check fails if seg is not of this message, or if segment is none like it.
func (o *Opener) check(segment []byte, seg floe.Segment) error {
	if seg.Params() != o.params {
		return floe.ErrParamsMismatch
	}
	n := uint64(seg.CiphertextLen())
	if uint64(len(segment)) != n {
		return exactly(floe.ErrCiphertextLength, len(segment), n)
	}
	switch prefix := binary.BigEndian.Uint32(segment); {
	case !seg.IsFinal() && prefix != message.NonFinal:
		return floe.ErrSegmentPrefix
	case seg.IsFinal() && uint64(prefix) != n:
		return exactly(floe.ErrCiphertextLength, int(n), uint64(prefix))
	}
	return nil
}
