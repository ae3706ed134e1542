package floe_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"unsafe"

	"github.com/cachekit-go/cachekit/core/floe"
)

// gcm returns the standard library's AES-GCM.
func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// A gate is an AEAD that holds calls back until as many are in flight as there
// can be, and notes how many there were and which buffers they had.
type gate struct {
	cipher.AEAD
	want int // how many calls shall meet
	*gateState
}

type gateState struct {
	mu      sync.Mutex
	met     sync.Cond
	flying  int
	most    int
	buffers map[*byte]bool
}

func newGate(want int) *gate {
	g := &gate{want: want, gateState: &gateState{buffers: map[*byte]bool{}}}
	g.met.L = &g.mu
	return g
}

// options returns options for so many workers whose AEAD is the gate.
func (g *gate) options() floe.Options {
	return floe.Options{Workers: g.want, AEAD: func(key []byte) (cipher.AEAD, error) {
		a, err := gcm(key)
		h := *g
		h.AEAD = a
		return &h, err
	}}
}

// enter waits until enough calls have met once.
func (g *gate) enter(buffer []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cap(buffer) > 0 {
		g.buffers[unsafe.SliceData(buffer[:1])] = true
	}
	g.flying++
	if g.flying > g.most {
		g.most = g.flying
		g.met.Broadcast()
	}
	for g.most < g.want {
		g.met.Wait()
	}
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flying--
}

func (g *gate) Seal(dst, nonce, plaintext, aad []byte) []byte {
	g.enter(dst)
	defer g.leave()
	return g.AEAD.Seal(dst, nonce, plaintext, aad)
}

func (g *gate) Open(dst, nonce, ciphertext, aad []byte) ([]byte, error) {
	g.enter(dst)
	defer g.leave()
	return g.AEAD.Open(dst, nonce, ciphertext, aad)
}

// So many workers as asked for are at work at the same time, and streams have
// one buffer more than that.
func TestWorkersInFlight(t *testing.T) {
	key := newKey(t, testKey)
	const workers = 5
	p := floe.Params4KiB
	plaintext := ruled(1, 200*int(p.SegmentPlaintextLen())-17)
	msg := seal(t, p, plaintext)
	for name, v := range map[string]struct {
		stream bool
		f      func(o floe.Options) ([]byte, error)
	}{
		"Seal": {false, func(o floe.Options) ([]byte, error) { return o.Seal(nil, key, testAAD, p, plaintext) }},
		"Open": {false, func(o floe.Options) ([]byte, error) { return o.Open(nil, key, testAAD, msg) }},
		"EncryptReader.WriteTo": {true, func(o floe.Options) ([]byte, error) {
			var b bytes.Buffer
			e, err := o.NewEncryptReader(bytes.NewReader(plaintext), key, testAAD, p)
			if err == nil {
				_, err = e.WriteTo(&b)
			}
			return b.Bytes(), err
		}},
		"EncryptReader.Read": {true, func(o floe.Options) ([]byte, error) {
			e, err := o.NewEncryptReader(bytes.NewReader(plaintext), key, testAAD, p)
			if err != nil {
				return nil, err
			}
			return io.ReadAll(e)
		}},
		"EncryptWriter.Write": {true, func(o floe.Options) ([]byte, error) {
			var b bytes.Buffer
			w, err := o.NewEncryptWriter(&b, key, testAAD, p)
			if err == nil {
				_, err = w.Write(plaintext)
			}
			if err == nil {
				err = w.Close()
			}
			return b.Bytes(), err
		}},
		"EncryptWriter.ReadFrom": {true, func(o floe.Options) ([]byte, error) {
			var b bytes.Buffer
			w, err := o.NewEncryptWriter(&b, key, testAAD, p)
			if err == nil {
				_, err = w.ReadFrom(bytes.NewReader(plaintext))
			}
			if err == nil {
				err = w.Close()
			}
			return b.Bytes(), err
		}},
		"DecryptReader.WriteTo": {true, func(o floe.Options) ([]byte, error) {
			var b bytes.Buffer
			d, err := o.NewDecryptReader(bytes.NewReader(msg), key, testAAD)
			if err == nil {
				_, err = d.WriteTo(&b)
			}
			return b.Bytes(), err
		}},
		"DecryptReader.Read": {true, func(o floe.Options) ([]byte, error) {
			d, err := o.NewDecryptReader(bytes.NewReader(msg), key, testAAD)
			if err != nil {
				return nil, err
			}
			return io.ReadAll(d)
		}},
	} {
		g := newGate(workers)
		got, err := v.f(g.options())
		if err != nil || len(got) != len(msg) && !bytes.Equal(got, plaintext) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if len(got) == len(msg) {
			if got, err := floe.Open(nil, key, testAAD, got); err != nil || !bytes.Equal(got, plaintext) {
				t.Errorf("%s: opens to %d bytes, %v", name, len(got), err)
			}
		}
		if g.most != workers {
			t.Errorf("%s: %d calls in flight, want %d", name, g.most, workers)
		}
		// The first buffers grow before they are used.
		if v.stream && len(g.buffers) > workers+1 {
			t.Errorf("%s: %d buffers, want %d", name, len(g.buffers), workers+1)
		}
	}
}

// odd is an AEAD that does what a cipher may do, or may not.
type odd struct {
	cipher.AEAD
	nonce, tag int
	allocate   bool
	short      bool
}

func (o odd) NonceSize() int { return o.nonce }
func (o odd) Overhead() int  { return o.tag }

func (o odd) Seal(dst, nonce, plaintext, aad []byte) []byte {
	if o.allocate {
		return o.AEAD.Seal(bytes.Clone(dst), nonce, plaintext, aad)
	}
	out := o.AEAD.Seal(dst, nonce, plaintext, aad)
	if o.short {
		out = out[:len(out)-1]
	}
	return out
}

func (o odd) Open(dst, nonce, ciphertext, aad []byte) ([]byte, error) {
	if o.allocate {
		return o.AEAD.Open(bytes.Clone(dst), nonce, ciphertext, aad)
	}
	out, err := o.AEAD.Open(dst, nonce, ciphertext, aad)
	if o.short && err == nil {
		out = out[:len(out)-1]
	}
	return out, err
}

// The seam takes ciphers that write elsewhere, and refuses those that do not
// suit the format.
func TestOddAEAD(t *testing.T) {
	key := newKey(t, testKey)
	plaintext := ruled(2, 100)
	msg := seal(t, floe.Params64B, plaintext)
	with := func(o odd) floe.Options {
		return floe.Options{AEAD: func(key []byte) (cipher.AEAD, error) {
			a, err := gcm(key)
			o.AEAD = a
			return o, err
		}}
	}
	o := with(odd{nonce: 12, tag: 16, allocate: true})
	got, err := o.Seal(nil, key, testAAD, floe.Params64B, plaintext)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = floe.Open(nil, key, testAAD, got); err != nil || !bytes.Equal(got, plaintext) {
		t.Errorf("sealed elsewhere: %d bytes, %v", len(got), err)
	}
	if got, err = o.Open(nil, key, testAAD, msg); err != nil || !bytes.Equal(got, plaintext) {
		t.Errorf("opened elsewhere: %d bytes, %v", len(got), err)
	}
	// A cipher that cannot be used is found before anything is written.
	refused := floe.Options{AEAD: func([]byte) (cipher.AEAD, error) { return nil, errFault }}
	var out bytes.Buffer
	_, err1 := refused.NewEncryptWriter(&out, key, testAAD, floe.Params64B)
	_, err2 := refused.NewEncryptReader(&out, key, testAAD, floe.Params64B)
	_, err3 := refused.NewEncryptor(key, testAAD, floe.Params64B)
	_, err4 := refused.NewDecryptReader(bytes.NewReader(msg), key, testAAD)
	_, err5 := refused.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), key, testAAD)
	_, err6 := refused.NewDecryptor(key, testAAD, floe.Header(msg[:floe.HeaderSize]))
	for i, err := range []error{err1, err2, err3, err4, err5, err6} {
		if !errors.Is(err, floe.ErrAEAD) || !errors.Is(err, errFault) || out.Len() > 0 {
			t.Errorf("constructor %d: %v, %d bytes written", i+1, err, out.Len())
		}
	}
	for name, o := range map[string]floe.Options{
		"nonces of 13 bytes": with(odd{nonce: 13, tag: 16}),
		"tags of 15 bytes":   with(odd{nonce: 12, tag: 15}),
		"a byte too few":     with(odd{nonce: 12, tag: 16, short: true}),
		"an error":           {AEAD: func([]byte) (cipher.AEAD, error) { return nil, errFault }},
		"nothing":            {AEAD: func([]byte) (cipher.AEAD, error) { return nil, nil }},
	} {
		dst := append(make([]byte, 0, 1000), "dst"...)
		got, err := o.Seal(dst, key, testAAD, floe.Params64B, plaintext)
		if !errors.Is(err, floe.ErrAEAD) || string(got) != "dst" {
			t.Errorf("%s: sealing: %q, %v", name, got, err)
		}
		if name == "an error" && !errors.Is(err, errFault) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := o.Open(dst, key, testAAD, msg); !errors.Is(err, floe.ErrAEAD) || string(got) != "dst" {
			t.Errorf("%s: opening: %q, %v", name, got, err)
		}
		if len(bytes.Trim(dst[3:1000], "\x00")) > 0 {
			t.Errorf("%s: left %x", name, dst[:1000])
		}
	}
}

// A panics is a cipher that panics at its second segment.
type panics struct {
	cipher.AEAD
	n *int
}

func (p panics) Seal(dst, nonce, plaintext, aad []byte) []byte {
	p.count()
	return p.AEAD.Seal(dst, nonce, plaintext, aad)
}

func (p panics) Open(dst, nonce, ciphertext, aad []byte) ([]byte, error) {
	p.count()
	return p.AEAD.Open(dst, nonce, ciphertext, aad)
}

func (p panics) count() {
	if *p.n++; *p.n == 2 {
		panic(errFault)
	}
}

// panicking is a source or sink that panics after n bytes.
type panicking int

func (p *panicking) Read(b []byte) (int, error) { return p.take(len(b)) }

func (p *panicking) Write(b []byte) (int, error) { return p.take(len(b)) }

func (p *panicking) take(n int) (int, error) {
	if *p == 0 {
		*p = 1 << 20 // once
		panic(errFault)
	}
	n = min(n, int(*p))
	*p -= panicking(n)
	return n, nil
}

// panicsOnce calls f until it returns an error, which is soon, and wants it to
// panic once.
func panicsOnce(t *testing.T, name string, f func() error) (err error) {
	n := 0
	for i := 0; err == nil && i < 1000; i++ {
		func() {
			defer func() {
				if recover() != nil {
					n++
				}
			}()
			err = f()
		}()
	}
	if n != 1 {
		t.Errorf("%s: %d panics", name, n)
	}
	return err
}

// Who recovers from a panic in the middle of a segment gets neither a segment
// that was not sealed or opened, nor a message without it.
func TestPanics(t *testing.T) {
	key, p := newKey(t, testKey), floe.Params64B
	plaintext := ruled(8, 100)
	msg := seal(t, p, plaintext)
	broken := func() floe.Options {
		n := 0
		return floe.Options{AEAD: func(key []byte) (cipher.AEAD, error) {
			a, err := gcm(key)
			return panics{a, &n}, err
		}}
	}
	for _, size := range []int{5, 64, 1000} {
		d, err := broken().NewDecryptReader(bytes.NewReader(msg), key, testAAD)
		if err != nil {
			t.Fatal(err)
		}
		e, err := broken().NewEncryptReader(bytes.NewReader(plaintext), key, testAAD, p)
		if err != nil {
			t.Fatal(err)
		}
		source := panicking(40)
		f, err := floe.NewEncryptReader(&source, key, testAAD, p)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range []io.ReadCloser{d, e, f} {
			name := []string{"DecryptReader", "EncryptReader", "EncryptReader, source"}[i]
			var got []byte
			b := make([]byte, size)
			err := panicsOnce(t, name, func() error {
				clear(b)
				n, err := r.Read(b)
				got = append(got, b[:n]...)
				return err
			})
			want := []int{32, floe.HeaderSize + 64, floe.HeaderSize + 64}[i]
			if len(got) != want || !errors.Is(err, floe.ErrPoisoned) {
				t.Errorf("%s: reads of %d: %d bytes, %v, want %d", name, size, len(got), err, want)
			}
			if i > 0 && len(bytes.Trim(b, "\x00")) > 0 {
				t.Errorf("%s: reads of %d left %x", name, size, b)
			}
			// What is the caller's again stays as it is.
			b[0] = 1
			if err := r.Close(); err != nil || b[0] != 1 {
				t.Errorf("%s: closing: %v", name, err)
			}
		}
	}
	for i, o := range []floe.Options{broken(), {}, {Workers: 3}} {
		sink := panicking(floe.HeaderSize + 64)
		if i == 0 {
			sink = 1 << 20
		}
		w, err := o.NewEncryptWriter(&sink, key, testAAD, p)
		if err != nil {
			t.Fatal(err)
		}
		err = panicsOnce(t, "EncryptWriter", func() error {
			_, err := w.Write(ruled(9, 1000))
			return err
		})
		if !errors.Is(err, floe.ErrPoisoned) {
			t.Errorf("writer %d: %v", i, err)
		}
		w.Abort()
		if err := w.Close(); err == nil {
			t.Errorf("writer %d: a message with a gap is complete", i)
		}
	}
}

// No cause of an error passes for the end of a stream.
func TestCauseIsNotEOF(t *testing.T) {
	key, p := newKey(t, testKey), floe.UncheckedParams(64, 1)
	plaintext := ruled(10, 1000)
	n := 0
	gone := func(key []byte) (cipher.AEAD, error) {
		if n++; n%3 == 0 {
			return nil, fmt.Errorf("module: %w", io.EOF)
		}
		return gcm(key)
	}
	d, err := floe.Options{AEAD: gone, Require: p}.NewDecryptReader(bytes.NewReader(seal(t, p, plaintext)), key, testAAD)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(d); !errors.Is(err, floe.ErrAEAD) || errors.Is(err, io.EOF) {
		t.Errorf("a cipher that is gone: %v", err)
	}
	e, err := floe.Options{Rand: bytes.NewReader(make([]byte, 32+12))}.NewEncryptReader(bytes.NewReader(plaintext), key, testAAD, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, e); !errors.Is(err, floe.ErrRandomness) || errors.Is(err, io.EOF) {
		t.Errorf("randomness that ends: %v", err)
	}
}

// A source of randomness that fails in the middle is an error each time.
func TestRandomnessFails(t *testing.T) {
	key := newKey(t, testKey)
	for n := range 32 + 12*4 {
		o := floe.Options{Rand: bytes.NewReader(make([]byte, n))}
		if got, err := o.Seal(nil, key, nil, floe.Params64B, make([]byte, 100)); !errors.Is(err, floe.ErrRandomness) || got != nil {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
		o.Rand = bytes.NewReader(make([]byte, n))
		w, err := o.NewEncryptWriter(io.Discard, key, nil, floe.Params64B)
		if err == nil {
			_, err = w.Write(make([]byte, 1000))
		}
		if !errors.Is(err, floe.ErrRandomness) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
