package floe

import (
	"bytes"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// An Encryptor seals the segments of one message in order. The caller puts the
// header and the segments one behind the other, and must end with AppendFinal:
// without it no reader takes the message for complete. It is not safe for
// concurrent use, and must not be copied.
//
// A call that fails consumes nothing: it can be repeated with other arguments.
//
// Spec sections 4 and 8.5.
type Encryptor struct {
	_       noCopy
	params  Params
	message *message.Message
	worker  *message.Worker
	next    uint64
	done    bool
	closed  bool
}

// NewEncryptor starts a message. It fails with [ErrKeyLength],
// [ErrParamsMismatch] or [ErrAEAD].
func NewEncryptor(key *Key, aad []byte, p Params) (*Encryptor, error) {
	return Options{}.NewEncryptor(key, aad, p)
}

// NewEncryptor is the function [NewEncryptor] with the choices of o. It fails
// with [ErrRandomness] too.
func (o Options) NewEncryptor(key *Key, aad []byte, p Params) (*Encryptor, error) {
	m, err := o.start(key, bytes.Clone(aad), p)
	if err != nil {
		return nil, err
	}
	return &Encryptor{params: p, message: m, worker: m.NewWorker(0)}, nil
}

// Header returns the header, which comes before the segments.
func (e *Encryptor) Header() Header { return e.message.Header() }

// Params returns the parameters of the message.
func (e *Encryptor) Params() Params { return e.params }

// Position returns the number of segments so far, the final one excepted.
func (e *Encryptor) Position() uint64 { return e.next }

// Done reports whether the final segment was sealed.
func (e *Encryptor) Done() bool { return e.done }

// AppendSegment seals a segment that others follow and appends it to dst. It
// returns the extended slice. plaintext must have
// [Params.SegmentPlaintextLen] bytes.
//
// The segment is sealed in place, without a copy, if plaintext lies exactly
// where its ciphertext will be, [PayloadOffset] bytes behind len(dst). The room
// for the segment must not overlap plaintext otherwise.
//
// It fails with [ErrPlaintextLength], [ErrOverlap], [ErrClosed], and with
// [ErrSegmentLimit] where only the final segment may be. On error dst is
// returned as it was.
func (e *Encryptor) AppendSegment(dst, plaintext []byte) ([]byte, error) {
	return e.seal(dst, plaintext, false)
}

// AppendFinal seals the last segment and appends it to dst, as AppendSegment
// does. plaintext has [Params.SegmentPlaintextLen] bytes at most; it may be
// empty, for those who learn of the end too late. From then on e is closed.
func (e *Encryptor) AppendFinal(dst, plaintext []byte) ([]byte, error) {
	out, err := e.seal(dst, plaintext, true)
	if err == nil {
		e.done = true
		e.Close()
	}
	return out, err
}

func (e *Encryptor) seal(dst, plaintext []byte, final bool) ([]byte, error) {
	n, full := uint64(len(plaintext)), uint64(e.params.SegmentPlaintextLen())
	switch {
	case e.closed:
		return dst, ErrClosed
	case !final && n != full:
		return dst, exactly(ErrPlaintextLength, n, full)
	case n > full:
		return dst, atMost(ErrPlaintextLength, n, full)
	case !final && e.next == MaxSegments-1:
		return dst, ErrSegmentLimit
	}
	out, room := message.Extend(dst, len(plaintext)+Overhead)
	if message.Overlap(room[:PayloadOffset], plaintext) || message.OverlapElsewhere(room[PayloadOffset:], plaintext) {
		return dst, ErrOverlap
	}
	if err := e.worker.Seal(room, e.next, final, plaintext); err != nil {
		return dst, err
	}
	if !final {
		e.next++
	}
	return out, nil
}

// Close ends the use of e and wipes its keys. Without a final segment the
// message stays incomplete. It returns nil.
func (e *Encryptor) Close() error {
	e.closed = true
	e.message.Close()
	return nil
}

// A Decryptor opens the segments of one message in order. It is not safe for
// concurrent use, and must not be copied.
//
// A call that fails consumes nothing: it can be repeated with another segment.
//
// Spec sections 4 and 8.5.
type Decryptor struct {
	_       noCopy
	params  Params
	message *message.Message
	worker  *message.Worker
	next    uint64
	done    bool
	closed  bool
}

// NewDecryptor starts the message with a header. It fails with [ErrKeyLength],
// [ErrHeaderParams], [ErrHeaderTag] or [ErrAEAD].
func NewDecryptor(key *Key, aad []byte, h Header) (*Decryptor, error) {
	return Options{}.NewDecryptor(key, aad, h)
}

// NewDecryptor is the function [NewDecryptor] with the choices of o.
func (o Options) NewDecryptor(key *Key, aad []byte, h Header) (*Decryptor, error) {
	m, p, err := o.open(key, bytes.Clone(aad), h)
	if err != nil {
		return nil, err
	}
	return &Decryptor{params: p, message: m, worker: m.NewWorker(0)}, nil
}

// Params returns the parameters of the message, which are authentic.
func (d *Decryptor) Params() Params { return d.params }

// Position returns the number of segments opened so far, the final one
// excepted.
func (d *Decryptor) Position() uint64 { return d.next }

// Done reports whether the final segment was opened.
func (d *Decryptor) Done() bool { return d.done }

// AppendSegment opens the next segment, which tells itself whether it is the
// final one, and appends the plaintext to dst. It returns the extended slice.
// segment must be one segment and nothing else: [Params.DecodePrefix] says how
// long it is.
//
// The segment is opened in place, and lost, if its ciphertext lies exactly
// where the plaintext goes: let dst be segment[PayloadOffset:PayloadOffset]. The
// room for the plaintext must not overlap segment otherwise.
//
// It fails with [ErrCiphertextLength], [ErrAuthentication], [ErrOverlap],
// [ErrSegmentLimit], and [ErrClosed] after the final segment. On error dst is
// returned as it was, and the room behind it holds no plaintext.
func (d *Decryptor) AppendSegment(dst, segment []byte) ([]byte, error) {
	if d.closed {
		return dst, ErrClosed
	}
	n := uint64(len(segment))
	if n < message.PrefixSize {
		return dst, between(ErrCiphertextLength, n, message.PrefixSize, uint64(d.params.segmentLen))
	}
	f, err := d.params.DecodePrefix([4]byte(segment))
	if err != nil {
		return dst, err
	}
	if n != uint64(f.Len) {
		return dst, exactly(ErrCiphertextLength, n, uint64(f.Len))
	}
	if !f.Final && d.next == MaxSegments-1 {
		return dst, ErrSegmentLimit
	}
	out, room := message.Extend(dst, len(segment)-Overhead)
	ciphertext := segment[PayloadOffset:]
	if message.Overlap(room, segment[:PayloadOffset]) || message.OverlapElsewhere(room, ciphertext) {
		return dst, ErrOverlap
	}
	if err := d.worker.Open(room, d.next, f.Final, segment); err != nil {
		return dst, err
	}
	if !f.Final {
		d.next++
		return out, nil
	}
	d.done = true
	d.Close()
	return out, nil
}

// Finish fails with [ErrTruncated] unless the final segment was opened: without
// it the message is not complete.
func (d *Decryptor) Finish() error {
	if !d.done {
		return ErrTruncated
	}
	return nil
}

// Close ends the use of d and wipes its keys. It returns nil.
func (d *Decryptor) Close() error {
	d.closed = true
	d.message.Close()
	return nil
}

// noCopy makes go vet find copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
