package floe

import (
	"bytes"
	"io"
)

// An EncryptWriter encrypts what is written to it and writes the message to a
// sink, a segment in one Write. The framing is canonical, however the plaintext
// is cut into writes. Only Close makes the message complete.
//
// It has one segment in memory, or more with [Options].Workers, and allocates
// nothing once it has written the first. It is not safe for concurrent use.
//
// An error of the sink is returned as it is; from then on each Write fails with
// [ErrPoisoned], and Close with the first error.
//
// Spec section 8.3.
type EncryptWriter struct {
	sink   io.Writer
	params Params
	header Header
	ring   *ring
	life   life
	filled *slot // takes the plaintext; nil if no segment has begun
}

// NewEncryptWriter writes the header of a new message to w and returns a writer
// of its plaintext. It fails with [ErrKeyLength], [ErrParamsMismatch],
// [ErrAEAD], an error of w, and on 32-bit machines with [ErrOverflow] for
// segments of 2 GiB.
func NewEncryptWriter(w io.Writer, key *Key, aad []byte, p Params) (*EncryptWriter, error) {
	return Options{}.NewEncryptWriter(w, key, aad, p)
}

// NewEncryptWriter is the function [NewEncryptWriter] with the choices of o. It
// fails with [ErrRandomness] too.
func (o Options) NewEncryptWriter(w io.Writer, key *Key, aad []byte, p Params) (*EncryptWriter, error) {
	if err := p.streamable(); err != nil {
		return nil, err
	}
	m, err := o.start(key, bytes.Clone(aad), p)
	if err != nil {
		return nil, err
	}
	e := &EncryptWriter{sink: w, params: p, header: m.Header(), ring: newRing(m, o.workers(), (*slot).seal)}
	if _, err := writeAll(w, e.header[:]); err != nil {
		m.Close()
		return nil, err
	}
	return e, nil
}

// Header returns the header of the message, which was written first.
func (e *EncryptWriter) Header() Header { return e.header }

// Params returns the parameters of the message.
func (e *EncryptWriter) Params() Params { return e.params }

// Write encrypts p. A segment is written to the sink once it is known that
// another follows. It fails with [ErrClosed] after Close and [ErrPoisoned]
// after an error; n is how many bytes were taken.
func (e *EncryptWriter) Write(p []byte) (n int, err error) {
	if err := e.life.check(); err != nil {
		return 0, err
	}
	capacity, limit := int(e.params.SegmentPlaintextLen()), int(e.params.segmentLen)
	for n < len(p) {
		s := e.slot()
		if s.n == capacity {
			if err := e.emit(false); err != nil {
				return n, err
			}
			s = e.slot()
		}
		if rest := p[n:]; s.n == 0 && len(rest) > capacity && e.ring.serial() {
			// The segment is sealed from where it is.
			s.reserve(limit)
			s.n, s.plain = capacity, rest[:capacity]
			if err := e.emit(false); err != nil {
				return n, err
			}
			n += capacity
			continue
		}
		s.grow(PayloadOffset+s.n, limit)
		got := copy(s.buf[PayloadOffset+s.n:min(len(s.buf), PayloadOffset+capacity)], p[n:])
		s.n += got
		n += got
	}
	return n, nil
}

// ReadFrom encrypts what r gives until its end, and returns how many bytes that
// were. It does not end the message. An error of r is returned, and what was
// read before has been taken.
func (e *EncryptWriter) ReadFrom(r io.Reader) (n int64, err error) {
	if err := e.life.check(); err != nil {
		return 0, err
	}
	capacity, limit := int(e.params.SegmentPlaintextLen()), int(e.params.segmentLen)
	for {
		s := e.slot()
		s.grow(PayloadOffset+s.n, limit)
		// One byte more than the segment has shows that another follows.
		got, err := readSome(r, s.buf[PayloadOffset+s.n:min(len(s.buf), PayloadOffset+capacity+1)])
		n += int64(got)
		if s.n += got; s.n > capacity {
			s.n = capacity
			first := s.buf[PayloadOffset+capacity]
			if err := e.emit(false); err != nil {
				return n, err
			}
			s = e.slot()
			s.grow(PayloadOffset, limit)
			s.buf[PayloadOffset] = first
			s.n = 1
		}
		if err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// slot returns the slot that takes the next byte of plaintext.
func (e *EncryptWriter) slot() *slot {
	if e.filled == nil {
		e.filled = e.ring.take() // emit has left one
	}
	return e.filled
}

// emit seals the segment that was filled, and writes as many to the sink as is
// needed for another slot.
func (e *EncryptWriter) emit(final bool) error {
	e.life.err = errPanicked
	s := e.filled
	s.reserve(s.n + Overhead)
	if e.ring.used >= e.ring.workers {
		e.ring.oldest() // no more than so many at work
	}
	if err := e.ring.start(s, final); err != nil {
		return e.fail(err)
	}
	e.filled = nil
	for e.ring.used == len(e.ring.slots) || final && e.ring.used > 0 {
		if err := e.drain(); err != nil {
			return err
		}
	}
	e.life.err = nil
	return nil
}

// drain writes the oldest segment to the sink.
func (e *EncryptWriter) drain() error {
	s := e.ring.oldest()
	err := s.err
	if err == nil {
		_, err = writeAll(e.sink, s.segment())
	}
	if err != nil {
		return e.fail(err)
	}
	e.ring.release()
	return nil
}

// Close seals the final segment, writes what is left of the message, and wipes
// plaintext and keys. It does not close the sink. Called again it returns nil.
// After an error it returns the first one and writes nothing; after Abort it
// fails with [ErrClosed].
//
// Note that a deferred Close completes the message also when the caller has
// given up half way: see [EncryptWriter.Abort].
func (e *EncryptWriter) Close() error {
	if e.life.err != nil || e.life.closed {
		e.ring.close() // after a panic it was not
		return e.life.err
	}
	e.slot()
	if err := e.emit(true); err != nil {
		return err
	}
	e.life.closed = true
	e.ring.close()
	return nil
}

// Abort ends the use of e without a final segment, so that no reader takes what
// was written for a whole message, and wipes plaintext and keys. After Close it
// does nothing.
func (e *EncryptWriter) Abort() {
	if !e.life.closed && e.life.err == nil {
		e.fail(ErrClosed)
	}
	e.ring.close() // after a panic it was not
}

// fail ends the use of e with its first error.
func (e *EncryptWriter) fail(err error) error {
	e.life.err = err
	e.filled = nil
	e.ring.close()
	return err
}
