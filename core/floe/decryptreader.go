package floe

import (
	"bytes"
	"io"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// A DecryptReader reads a message from a source and gives the plaintext, one
// segment at a time and each only after it was authenticated. That the message
// is complete is known at its end alone: [io.EOF] says so, and any other error
// that it is not. What was given before is authentic all the same.
//
// It takes no byte after the message from the source, so that another may
// follow; [DecryptReader.Finish] is for those who want none.
//
// It has one segment in memory, or more with [Options].Workers, and never much
// more than the source has given, whatever the header announces. It allocates
// nothing once it has read the first segment. It is not safe for concurrent
// use.
//
// A source that ends too early gives [ErrTruncated] or [ErrCiphertextLength];
// its other errors are returned as they are, also if they wrap io.EOF: compare
// that with ==. After an error each call fails with [ErrPoisoned].
//
// Spec sections 4, 8.3 and 8.6.
type DecryptReader struct {
	source io.Reader
	params Params
	header Header
	pump   pump
	life   life

	out    []byte // plaintext not yet given, in the pump's segment
	direct []byte // where the plaintext of the next segment shall be, if not there
	last   bool   // out is the end of the plaintext
	atEnd  bool   // the source was seen to end after the message

	ahead  [message.PrefixSize]byte // read with the segment before
	nAhead int
}

// NewDecryptReader reads the header of a message from r, checks it and returns
// a reader of the plaintext. It reads nothing more until the first Read.
//
// It fails with [ErrKeyLength], [ErrHeaderLength] if r ends before,
// [ErrHeaderParams], [ErrHeaderTag], [ErrAEAD], an error of r, and on 32-bit
// machines with [ErrOverflow] for segments of 2 GiB.
func NewDecryptReader(r io.Reader, key *Key, aad []byte) (*DecryptReader, error) {
	return Options{}.NewDecryptReader(r, key, aad)
}

// NewDecryptReader is the function [NewDecryptReader] with the choices of o.
func (o Options) NewDecryptReader(r io.Reader, key *Key, aad []byte) (*DecryptReader, error) {
	d := &DecryptReader{source: r}
	for n := 0; n < HeaderSize; {
		got, err := readSome(r, d.header[n:])
		n += got
		if err == io.EOF && n < HeaderSize {
			return nil, exactly(ErrHeaderLength, uint64(n), HeaderSize)
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	m, p, err := o.open(key, bytes.Clone(aad), d.header)
	if err != nil {
		return nil, err
	}
	if err := p.streamable(); err != nil {
		m.Close()
		return nil, err
	}
	d.params = p
	d.pump = pump{ring: newRing(m, o.workers(), (*slot).open), fill: d.fill}
	return d, nil
}

// Header returns the header of the message.
func (d *DecryptReader) Header() Header { return d.header }

// Params returns the parameters of the message, which are authentic.
func (d *DecryptReader) Params() Params { return d.params }

// Done reports whether the final segment was authenticated and all of the
// plaintext was given.
func (d *DecryptReader) Done() bool { return d.last && len(d.out) == 0 }

// fill reads a segment. With it it takes what is there of the next one's
// prefix, for which it does not wait: one Read for a segment instead of two.
func (d *DecryptReader) fill(s *slot) (final bool, err error) {
	const prefixSize = message.PrefixSize
	limit := int(d.params.segmentLen) + prefixSize
	for d.nAhead < prefixSize {
		n, err := readSome(d.source, d.ahead[d.nAhead:])
		d.nAhead += n
		if err == io.EOF && d.nAhead < prefixSize {
			return false, ErrTruncated
		}
		if err != nil && err != io.EOF {
			return false, err
		}
	}
	f, err := d.params.DecodePrefix(d.ahead)
	if err != nil {
		return false, err
	}
	want, most := int(f.Len), int(f.Len)
	if !f.Final {
		most += prefixSize // another segment must follow
	}
	s.reserve(prefixSize)
	n := copy(s.buf, d.ahead[:])
	for n < want {
		s.grow(n, limit)
		got, err := readSome(d.source, s.buf[n:min(len(s.buf), most)])
		n += got
		if err == io.EOF && n < want {
			return false, exactly(ErrCiphertextLength, uint64(n), uint64(want))
		}
		if err != nil && err != io.EOF && n < want {
			return false, err
		}
	}
	d.nAhead = copy(d.ahead[:], s.buf[want:n])
	s.n = want - Overhead
	if d.direct != nil {
		s.plain = d.direct[:s.n]
	}
	return f.Final, nil
}

// Read gives plaintext of one segment at most. It returns [io.EOF] after all of
// it, and only if the message was complete.
func (d *DecryptReader) Read(p []byte) (int, error) {
	if err := d.life.check(); err != nil || len(p) == 0 {
		return 0, err
	}
	if len(d.out) == 0 {
		if full := int(d.params.SegmentPlaintextLen()); len(p) >= full && d.pump.serial() {
			d.direct = p[:full:full]
			err := d.next()
			n := len(d.out)
			d.direct, d.out = nil, nil
			return n, err
		}
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// WriteTo writes what is left of the plaintext to w, and returns how many bytes
// that were. Without an error the message was complete. An error of w ends the
// use of d as one of the source does.
func (d *DecryptReader) WriteTo(w io.Writer) (n int64, err error) {
	if err := d.life.check(); err != nil {
		return 0, err
	}
	for {
		if len(d.out) > 0 {
			got, err := writeAll(w, d.out)
			n += int64(got)
			if err != nil {
				return n, d.fail(err)
			}
			d.out = nil
		}
		if err := d.next(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// next makes out the plaintext of the next segment, which is not empty. It
// returns io.EOF after the last.
func (d *DecryptReader) next() error {
	for !d.last {
		d.life.err = errPanicked
		s, err := d.pump.pull()
		if err != nil {
			return d.fail(err)
		}
		d.life.err = nil
		if d.out, d.last = s.plain, s.final; len(d.out) > 0 {
			return nil
		}
	}
	d.pump.close()
	return io.EOF
}

// FinishFrame authenticates what is left of the message, and discards it. The
// source then stands right after the message. Called again it does nothing.
func (d *DecryptReader) FinishFrame() error {
	if err := d.life.check(); err != nil {
		return err
	}
	for {
		d.out = nil
		if err := d.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Finish does what [DecryptReader.FinishFrame] does, and then wants the source
// to be at its end. If it is not, Finish fails with [ErrTrailingData] and one
// byte is gone. Called again after it has succeeded, it does nothing.
func (d *DecryptReader) Finish() error {
	if err := d.FinishFrame(); err != nil || d.atEnd {
		return err
	}
	var b [1]byte
	n, err := readSome(d.source, b[:])
	switch {
	case n > 0:
		return d.fail(ErrTrailingData)
	case err != io.EOF:
		return d.fail(err)
	}
	d.atEnd = true
	return nil
}

// fail ends the use of d with its first error.
func (d *DecryptReader) fail(err error) error {
	d.Close()
	d.life.err = err
	return err
}

// Close ends the use of d and wipes what it holds of plaintext and keys. It
// does not close the source, and does not say whether the message was complete.
// It returns nil.
func (d *DecryptReader) Close() error {
	d.life.closed = true
	d.last, d.out = d.Done(), nil
	d.pump.close()
	return nil
}
