package floe

import (
	"bytes"
	"io"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// An EncryptReader reads plaintext from a source and gives the message. It
// reads the source to its end: the message ends where the source does. The
// framing is canonical, whatever the sizes of reads.
//
// It has one segment in memory, or more with [Options].Workers, and allocates
// nothing once it has read the first. It is not safe for concurrent use.
//
// An error of the source is returned as it is, after the segments that are
// complete; from then on each call fails with [ErrPoisoned].
//
// Spec section 8.3.
type EncryptReader struct {
	source io.Reader
	params Params
	header Header
	pump   pump
	life   life

	out     []byte // not yet given: of the header, or of the pump's segment
	last    bool   // out is the end of the message
	carry   byte   // the first byte of the next segment, if carried
	carried bool
	atEnd   bool // of the source
}

// NewEncryptReader returns a reader of the message that has what r gives. Until
// the first Read nothing is read from r. It fails with [ErrKeyLength],
// [ErrParamsMismatch], [ErrAEAD], and on 32-bit machines with [ErrOverflow] for
// segments of 2 GiB.
func NewEncryptReader(r io.Reader, key *Key, aad []byte, p Params) (*EncryptReader, error) {
	return Options{}.NewEncryptReader(r, key, aad, p)
}

// NewEncryptReader is the function [NewEncryptReader] with the choices of o. It
// fails with [ErrRandomness] too.
func (o Options) NewEncryptReader(r io.Reader, key *Key, aad []byte, p Params) (*EncryptReader, error) {
	if err := p.streamable(); err != nil {
		return nil, err
	}
	m, err := o.start(key, bytes.Clone(aad), p)
	if err != nil {
		return nil, err
	}
	e := &EncryptReader{source: r, params: p, header: m.Header()}
	e.out = e.header[:]
	e.pump = pump{ring: newRing(m, o.workers(), (*slot).seal), fill: e.fill}
	return e, nil
}

// Header returns the header of the message, with which its output begins.
func (e *EncryptReader) Header() Header { return e.header }

// Params returns the parameters of the message.
func (e *EncryptReader) Params() Params { return e.params }

// Done reports whether all of the message was given.
func (e *EncryptReader) Done() bool { return e.last && len(e.out) == 0 }

// Read gives the header first, and then one segment at most. It returns
// [io.EOF] after the message.
func (e *EncryptReader) Read(p []byte) (int, error) {
	if err := e.life.check(); err != nil || len(p) == 0 {
		return 0, err
	}
	if len(e.out) == 0 {
		full := int(e.params.segmentLen)
		if len(p) >= full && e.pump.serial() && !e.last {
			return e.readInto(p[:full:full])
		}
		if err := e.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// readInto makes the next segment in p, for a serial stream, which has no other
// slot. If there is none, also after a panic, p holds no plaintext.
func (e *EncryptReader) readInto(p []byte) (n int, err error) {
	first := &e.pump.slots[0]
	own := first.buf
	first.buf = p
	defer func() {
		first.buf = own
		if n == 0 {
			message.Wipe(p)
		}
	}()
	if err := e.next(); err != nil {
		return 0, err
	}
	n, e.out = len(e.out), nil
	return n, nil
}

// WriteTo writes what is left of the message to w, and returns how many bytes
// that were. An error of w ends the use of e as one of the source does.
func (e *EncryptReader) WriteTo(w io.Writer) (n int64, err error) {
	if err := e.life.check(); err != nil {
		return 0, err
	}
	for {
		if len(e.out) > 0 {
			got, err := writeAll(w, e.out)
			n += int64(got)
			if err != nil {
				return n, e.fail(err)
			}
			e.out = nil
		}
		if err := e.next(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// next makes out the next segment. It returns io.EOF after the last.
func (e *EncryptReader) next() error {
	if e.last {
		return io.EOF
	}
	e.life.err = errPanicked
	s, err := e.pump.pull()
	if err != nil {
		return e.fail(err)
	}
	e.life.err = nil
	if e.out, e.last = s.segment(), s.final; e.last {
		e.pump.message.Close()
	}
	return nil
}

// fail ends the use of e with its first error.
func (e *EncryptReader) fail(err error) error {
	e.Close()
	e.life.err = err
	return err
}

// Close ends the use of e and wipes what it holds of plaintext and keys. It
// does not close the source, and a message that was not read to its end lacks
// its final segment. It returns nil.
func (e *EncryptReader) Close() error {
	e.life.closed = true
	e.last, e.out = e.Done(), nil
	e.carry = 0
	e.pump.close()
	return nil
}

// fill reads the plaintext of a segment and one byte more, to see whether
// another follows. That byte has room where the tag will be.
func (e *EncryptReader) fill(s *slot) (final bool, err error) {
	capacity, limit := int(e.params.SegmentPlaintextLen()), int(e.params.segmentLen)
	n := 0
	if e.carried {
		s.grow(PayloadOffset, limit)
		s.buf[PayloadOffset] = e.carry
		n = 1
	}
	for n <= capacity && !e.atEnd {
		s.grow(PayloadOffset+n, limit)
		got, err := readSome(e.source, s.buf[PayloadOffset+n:min(len(s.buf), PayloadOffset+capacity+1)])
		n += got
		if err == io.EOF {
			e.atEnd = true
		} else if err != nil {
			return false, err
		}
	}
	if e.carried = n > capacity; e.carried {
		n = capacity
		e.carry = s.buf[PayloadOffset+n]
	}
	s.n = n
	s.reserve(n + Overhead)
	return !e.carried, nil
}
