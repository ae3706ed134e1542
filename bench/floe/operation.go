// Package floe owns what is measured of core/floe: its calls, each beside the
// call of a bare cipher.AEAD over as many bytes. Package bench gates the serial
// ones, the benchmarks here are the same with long segments and several
// workers, and scripts/floe prints them as a table.
//
// Spec of FLOE, section 11.
package floe

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"

	"github.com/cachekit-go/cachekit/core/floe"
	"github.com/cachekit-go/cachekit/core/floe/lowlevel"
)

// A Case is the size of what is measured.
type Case struct {
	Params   floe.Params
	Segments int // in a message
	Workers  int // 1 is the caller alone
}

// segment returns the bytes of plaintext in a segment.
func (c Case) segment() int { return int(c.Params.SegmentPlaintextLen()) }

// whole returns the bytes of plaintext in a message.
func (c Case) whole() int { return c.Segments * c.segment() }

// An Operation is a call that is measured.
type Operation struct {
	Name     string
	Bare     string // the operation of the bare cipher to compare with; "" if there is none
	Whole    bool   // a call handles a whole message, otherwise one segment
	Parallel bool   // Case.Workers is heeded
	// New returns the call, after it has given the right answer once: a fast
	// wrong answer is no figure.
	New func(Case) (func() error, error)
}

// Bytes returns how many bytes of plaintext a call handles.
func (o Operation) Bytes(c Case) int {
	switch {
	case o.Name == "Read100":
		return 100
	case o.Whole:
		return c.whole()
	}
	return c.segment()
}

// Operations are all of them. Opening in place loses the segment, so these calls
// begin with copying it, and that of the bare cipher too.
var Operations = []Operation{
	{"BareSeal", "", false, false, bareSeal},
	{"BareSealInPlace", "", false, false, bareSealInPlace},
	{"BareOpen", "", false, false, bareOpen},
	{"BareOpenInPlace", "", false, false, bareOpenInPlace},
	{"SealSegment", "BareSeal", false, false, sealSegment},
	{"SealInPlace", "BareSealInPlace", false, false, sealInPlace},
	{"OpenSegment", "BareOpen", false, false, openSegment},
	{"OpenInPlace", "BareOpenInPlace", false, false, openInPlace},
	{"Seal", "BareSeal", true, true, seal(true)},
	{"SealNewBuffer", "BareSeal", true, true, seal(false)},
	{"Open", "BareOpen", true, true, open(true)},
	{"OpenNewBuffer", "BareOpen", true, true, open(false)},
	{"EncryptWriter", "BareSeal", false, true, encryptWriter},
	{"EncryptReader", "BareSeal", false, true, encryptReader(0)},
	{"EncryptReader1KiB", "BareSeal", false, true, encryptReader(1 << 10)},
	{"DecryptReader", "BareOpen", false, true, decryptReader(0)},
	{"DecryptReader1KiB", "BareOpen", false, true, decryptReader(1 << 10)},
	{"ReadSegments", "BareOpen", false, false, readSegments},
	{"ReadRange", "BareOpen", true, false, readRange},
	{"Read100", "", false, false, read100},
}

var (
	key = bytes.Repeat([]byte{0x42}, floe.KeySize)
	aad = []byte("aad")
)

// plaintext returns n bytes, which AES does not look at.
func plaintext(n int) []byte { return bytes.Repeat([]byte{0x5a}, n) }

// newKey returns the key.
func newKey() *floe.Key {
	k, err := floe.NewKey(key)
	if err != nil {
		panic(err) // its length is right
	}
	return k
}

// checked returns call once it has run without an error and right agrees.
func checked(call func() error, right func() bool) (func() error, error) {
	if err := call(); err != nil {
		return nil, err
	}
	if !right() {
		return nil, errors.New("wrong answer")
	}
	return call, nil
}

// A bare is what a segment is to AES-GCM: a key, a nonce, and 9 bytes of
// additional data.
type bare struct {
	aead       cipher.AEAD
	nonce, aad []byte
	plain      []byte
	sealed     []byte
}

func newBare(c Case) (*bare, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	b := &bare{nonce: make([]byte, 12), aad: make([]byte, 9), plain: plaintext(c.segment())}
	if b.aead, err = cipher.NewGCM(block); err != nil {
		return nil, err
	}
	b.sealed = b.aead.Seal(nil, b.nonce, b.plain, b.aad)
	return b, nil
}

func bareSeal(c Case) (func() error, error) {
	b, err := newBare(c)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, 0, len(b.sealed))
	return checked(
		func() error { dst = b.aead.Seal(dst[:0], b.nonce, b.plain, b.aad); return nil },
		func() bool { return bytes.Equal(dst, b.sealed) })
}

func bareSealInPlace(c Case) (func() error, error) {
	b, err := newBare(c)
	if err != nil {
		return nil, err
	}
	buf := append(make([]byte, 0, len(b.sealed)), b.plain...)
	return checked(
		func() error { b.aead.Seal(buf[:0], b.nonce, buf, b.aad); return nil },
		func() bool { return bytes.Equal(buf[:len(b.sealed)], b.sealed) })
}

func bareOpen(c Case) (func() error, error) {
	b, err := newBare(c)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, 0, len(b.plain))
	return checked(
		func() (err error) { dst, err = b.aead.Open(dst[:0], b.nonce, b.sealed, b.aad); return err },
		func() bool { return bytes.Equal(dst, b.plain) })
}

func bareOpenInPlace(c Case) (func() error, error) {
	b, err := newBare(c)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, len(b.sealed))
	return checked(
		func() error {
			copy(buf, b.sealed)
			_, err := b.aead.Open(buf[:0], b.nonce, buf, b.aad)
			return err
		},
		func() bool { return bytes.Equal(buf[:len(b.plain)], b.plain) })
}

// opens reports whether a segment at position 0 that others follow has the
// plaintext.
func opens(h floe.Header, segment, plain []byte) bool {
	d, err := floe.NewDecryptor(newKey(), aad, h)
	if err != nil {
		return false
	}
	got, err := d.AppendSegment(nil, segment)
	return err == nil && bytes.Equal(got, plain)
}

func sealSegment(c Case) (func() error, error) {
	e, err := floe.NewEncryptor(newKey(), aad, c.Params)
	if err != nil {
		return nil, err
	}
	plain := plaintext(c.segment())
	dst := make([]byte, 0, c.Params.SegmentLen())
	return checked(
		func() (err error) { dst, err = e.AppendSegment(dst[:0], plain); return err },
		func() bool { return opens(e.Header(), dst, plain) })
}

func sealInPlace(c Case) (func() error, error) {
	e, err := floe.NewEncryptor(newKey(), aad, c.Params)
	if err != nil {
		return nil, err
	}
	plain := plaintext(c.segment())
	buf := make([]byte, c.Params.SegmentLen())
	payload := buf[floe.PayloadOffset:][:len(plain)]
	copy(payload, plain) // later calls seal what the one before has left
	return checked(
		func() error { _, err := e.AppendSegment(buf[:0], payload); return err },
		func() bool { return opens(e.Header(), buf, plain) })
}

// message returns a message with the segments of the case, and its plaintext.
func message(c Case) (msg, plain []byte, err error) {
	plain = plaintext(c.whole())
	msg, err = floe.Seal(nil, newKey(), aad, c.Params, plain)
	return msg, plain, err
}

// firstSegment returns an opener, and the first of two segments.
func firstSegment(c Case) (o *lowlevel.Opener, seg floe.Segment, segment, plain []byte, err error) {
	c.Segments = 2
	msg, plain, err := message(c)
	if err != nil {
		return nil, seg, nil, nil, err
	}
	l, err := c.Params.CiphertextLayout(uint64(len(msg)))
	if err != nil {
		return nil, seg, nil, nil, err
	}
	shared, err := lowlevel.NewOpener(newKey(), aad, floe.Header(msg[:floe.HeaderSize]), floe.Options{})
	if err != nil {
		return nil, seg, nil, nil, err
	}
	seg, _ = l.Segment(0)
	segment = bytes.Clone(msg[floe.HeaderSize:][:c.Params.SegmentLen()]) // aligned
	return shared.Fork(), seg, segment, plain[:c.segment()], nil
}

func openSegment(c Case) (func() error, error) {
	o, seg, segment, plain, err := firstSegment(c)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, 0, len(plain))
	return checked(
		func() (err error) { dst, err = o.OpenSegment(dst[:0], segment, seg); return err },
		func() bool { return bytes.Equal(dst, plain) })
}

func openInPlace(c Case) (func() error, error) {
	o, seg, segment, plain, err := firstSegment(c)
	if err != nil {
		return nil, err
	}
	buf := bytes.Clone(segment)
	var got []byte
	return checked(
		func() (err error) {
			copy(buf[floe.PayloadOffset:], segment[floe.PayloadOffset:]) // the rest is still there
			got, err = o.OpenInPlace(buf, seg)
			return err
		},
		func() bool { return bytes.Equal(got, plain) })
}

func seal(room bool) func(Case) (func() error, error) {
	return func(c Case) (func() error, error) {
		k, o := newKey(), floe.Options{Workers: c.Workers}
		plain := plaintext(c.whole())
		n, err := floe.SealedLen(c.Params, len(plain))
		if err != nil {
			return nil, err
		}
		var dst, msg []byte
		if room {
			dst = make([]byte, 0, n)
		}
		return checked(
			func() (err error) { msg, err = o.Seal(dst, k, aad, c.Params, plain); return err },
			func() bool { got, err := floe.Open(nil, k, aad, msg); return err == nil && bytes.Equal(got, plain) })
	}
}

func open(room bool) func(Case) (func() error, error) {
	return func(c Case) (func() error, error) {
		k, o := newKey(), floe.Options{Workers: c.Workers}
		msg, plain, err := message(c)
		if err != nil {
			return nil, err
		}
		var dst, got []byte
		if room {
			dst = make([]byte, 0, len(plain))
		}
		return checked(
			func() (err error) { got, err = o.Open(dst, k, aad, msg); return err },
			func() bool { return bytes.Equal(got, plain) })
	}
}

// limited keeps what is written to it, up to a length.
type limited struct {
	b []byte
	n int
}

func (l *limited) Write(p []byte) (int, error) {
	l.b = append(l.b, p[:min(len(p), l.n-len(l.b))]...)
	return len(p), nil
}

func encryptWriter(c Case) (func() error, error) {
	plain := plaintext(c.segment())
	first := &limited{n: floe.HeaderSize + int(c.Params.SegmentLen())}
	w, err := floe.Options{Workers: c.Workers}.NewEncryptWriter(first, newKey(), aad, c.Params)
	if err != nil {
		return nil, err
	}
	call := func() error { _, err := w.Write(plain); return err }
	for range c.Workers + 2 { // until the first segment has left
		if err := call(); err != nil {
			return nil, err
		}
	}
	return checked(call, func() bool {
		return opens(w.Header(), first.b[floe.HeaderSize:], plain)
	})
}

// endless gives the same byte without an end.
type endless struct{ block []byte }

func (e *endless) Read(p []byte) (int, error) { return copy(p, e.block), nil }

// drain returns a call that reads n bytes into pieces of size bytes; 0 means
// what is left in one piece.
func drain(r func() io.Reader, n, size int) func() error {
	if size == 0 {
		size = n
	}
	buf := make([]byte, size)
	return func() error {
		for left := n; left > 0; {
			m, err := r().Read(buf[:min(size, left)])
			if err != nil {
				return err
			}
			left -= m
		}
		return nil
	}
}

func encryptReader(size int) func(Case) (func() error, error) {
	return func(c Case) (func() error, error) {
		e, err := floe.Options{Workers: c.Workers}.NewEncryptReader(&endless{plaintext(c.segment() + 1)}, newKey(), aad, c.Params)
		if err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(e, make([]byte, floe.HeaderSize)); err != nil {
			return nil, err
		}
		first := make([]byte, c.Params.SegmentLen())
		if _, err := io.ReadFull(e, first); err != nil {
			return nil, err
		}
		call := drain(func() io.Reader { return e }, len(first), size)
		return checked(call, func() bool { return opens(e.Header(), first, plaintext(c.segment())) })
	}
}

// decryptReader reads a message, and begins again where it ends.
func decryptReader(size int) func(Case) (func() error, error) {
	return func(c Case) (func() error, error) {
		msg, plain, err := message(c)
		if err != nil {
			return nil, err
		}
		k, source := newKey(), bytes.NewReader(nil)
		var d *floe.DecryptReader
		begin := func() (err error) {
			source.Reset(msg)
			d, err = floe.Options{Workers: c.Workers}.NewDecryptReader(source, k, aad)
			return err
		}
		if err := begin(); err != nil {
			return nil, err
		}
		if got, err := io.ReadAll(d); err != nil || !bytes.Equal(got, plain) {
			return nil, fmt.Errorf("got %d bytes, %w", len(got), err)
		}
		if err := begin(); err != nil {
			return nil, err
		}
		read := drain(func() io.Reader { return d }, c.segment(), size)
		n := 0
		return func() error {
			if n == c.Segments {
				n = 0
				if err := begin(); err != nil {
					return err
				}
			}
			n++
			return read()
		}, nil
	}
}

// readerAt returns a random-access reader of a message, and its plaintext.
func readerAt(c Case) (*floe.ReaderAt, []byte, error) {
	msg, plain, err := message(c)
	if err != nil {
		return nil, nil, err
	}
	a, err := floe.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), newKey(), aad)
	return a, plain, err
}

func readSegments(c Case) (func() error, error) {
	a, plain, err := readerAt(c)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, 0, c.segment())
	i := 0
	return checked(
		func() (err error) {
			dst, err = a.ReadSegment(dst[:0], uint64(i))
			i = (i + 1) % c.Segments
			return err
		},
		func() bool { return bytes.Equal(dst, plain[:c.segment()]) })
}

func readRange(c Case) (func() error, error) {
	a, plain, err := readerAt(c)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, len(plain))
	return checked(
		func() error { _, err := a.ReadAt(dst, 0); return err },
		func() bool { return bytes.Equal(dst, plain) })
}

// read100 reads 100 bytes, each time of another segment, which is not one of
// those that the reader still has.
func read100(c Case) (func() error, error) {
	c.Segments = max(c.Segments, 64)
	a, plain, err := readerAt(c)
	if err != nil {
		return nil, err
	}
	dst := make([]byte, 100)
	i := 0
	return checked(
		func() error {
			_, err := a.ReadAt(dst, int64(i*c.segment())+1000)
			i = (i + 1) % c.Segments
			return err
		},
		func() bool { return bytes.Equal(dst, plain[:100]) })
}
