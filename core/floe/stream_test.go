package floe_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/iotest"

	"github.com/cachekit-go/cachekit/core/floe"
)

var (
	testKey = bytes.Repeat([]byte{0x42}, floe.KeySize)
	testAAD = []byte("aad")
)

// lengths are the plaintext lengths at which the framing changes, and some.
func lengths(p floe.Params) []int {
	n := int(p.SegmentPlaintextLen())
	return []int{0, 1, n - 1, n, n + 1, 2*n - 1, 2 * n, 2*n + 3, 3*n + 7, 9*n + 1}
}

// testParams are small segments, and odd ones.
var testParams = []floe.Params{floe.Params64B, newParams(65), newParams(1001), floe.Params4KiB}

// fixed returns a source of randomness that always gives the same.
func fixed() io.Reader { return rand.NewChaCha8([32]byte{}) }

// seal seals, or fails the test.
func seal(t testing.TB, p floe.Params, plaintext []byte) []byte {
	t.Helper()
	msg, err := floe.Options{Rand: fixed()}.Seal(nil, newKey(t, testKey), testAAD, p, plaintext)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

// cuts calls f with ways to cut n bytes: how long each piece is.
func cuts(n int, p floe.Params) (all [][]int) {
	full := int(p.SegmentPlaintextLen())
	for _, size := range []int{1, 7, full - 1, full, full + 1, 2 * full, n + 1} {
		var c []int
		for rest := n; rest > 0; rest -= size {
			c = append(c, min(size, rest))
		}
		all = append(all, c)
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for range 3 {
		var c []int
		for rest := n; rest > 0; {
			k := min(rest, rng.IntN(2*full+1))
			c = append(c, k)
			rest -= k
		}
		all = append(all, c)
	}
	return all
}

// Sealing in any way gives the same message, if the randomness is the same.
func TestOneFraming(t *testing.T) {
	key := newKey(t, testKey)
	for _, p := range testParams {
		for _, n := range lengths(p) {
			plaintext := ruled(1, n)
			want := seal(t, p, plaintext)
			check := func(what string, got []byte, err error) {
				t.Helper()
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%v, %d bytes, %s: got another message of %d bytes, %v", p, n, what, len(got), err)
				}
			}
			if n2, err := floe.SealedLen(p, n); n2 != len(want) || err != nil {
				t.Errorf("SealedLen(%v, %d) = %d, %v, want %d", p, n, n2, err, len(want))
			}
			// The streams' first draws of nonces are smaller; it is one stream.
			o := floe.Options{Rand: fixed()}
			for i, cut := range cuts(n, p) {
				what := fmt.Sprintf("cut %d", i)
				var b bytes.Buffer
				o.Rand = fixed()
				w, err := o.NewEncryptWriter(&b, key, testAAD, p)
				if err != nil {
					t.Fatal(err)
				}
				rest := plaintext
				for _, k := range cut {
					if got, err := w.Write(rest[:k]); got != k || err != nil {
						t.Fatalf("%s: wrote %d of %d, %v", what, got, k, err)
					}
					rest = rest[k:]
				}
				err = w.Close()
				check("EncryptWriter.Write, "+what, b.Bytes(), err)

				o.Rand = fixed()
				r, err := o.NewEncryptReader(bytes.NewReader(plaintext), key, testAAD, p)
				if err != nil {
					t.Fatal(err)
				}
				got := []byte{}
				for j := 0; err == nil; j++ {
					size := int(p.SegmentLen())
					if len(cut) > 0 {
						size = cut[j%len(cut)]
					}
					if size == 0 {
						continue
					}
					piece := make([]byte, size)
					var m int
					m, err = r.Read(piece)
					got = append(got, piece[:m]...)
				}
				if err == io.EOF {
					err = nil
				}
				if !r.Done() {
					t.Errorf("%s: not done", what)
				}
				check("EncryptReader.Read, "+what, got, err)
			}
			for _, source := range []func(io.Reader) io.Reader{
				func(r io.Reader) io.Reader { return r },
				iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
			} {
				var b bytes.Buffer
				o.Rand = fixed()
				w, err := o.NewEncryptWriter(&b, key, testAAD, p)
				if err != nil {
					t.Fatal(err)
				}
				m, err := w.ReadFrom(source(bytes.NewReader(plaintext)))
				if err == nil {
					err = w.Close()
				}
				if m != int64(n) {
					t.Errorf("ReadFrom gives %d, want %d", m, n)
				}
				check("EncryptWriter.ReadFrom", b.Bytes(), err)

				b.Reset()
				o.Rand = fixed()
				r, err := o.NewEncryptReader(source(bytes.NewReader(plaintext)), key, testAAD, p)
				if err != nil {
					t.Fatal(err)
				}
				m, err = r.WriteTo(&b)
				if m != int64(len(want)) {
					t.Errorf("WriteTo gives %d, want %d", m, len(want))
				}
				check("EncryptReader.WriteTo", b.Bytes(), err)
			}
			o.Rand = fixed()
			e, err := o.NewEncryptor(key, testAAD, p)
			if err != nil {
				t.Fatal(err)
			}
			h := e.Header()
			got, rest, full := h[:], plaintext, int(p.SegmentPlaintextLen())
			for len(rest) > full {
				if got, err = e.AppendSegment(got, rest[:full]); err != nil {
					t.Fatal(err)
				}
				rest = rest[full:]
			}
			got, err = e.AppendFinal(got, rest)
			check("Encryptor", got, err)
		}
	}
}

// Whatever the number of workers, the framing is canonical, and what is opened
// is what was sealed.
func TestWorkers(t *testing.T) {
	key := newKey(t, testKey)
	for _, p := range testParams {
		for _, n := range append(lengths(p), 100*int(p.SegmentPlaintextLen())) {
			plaintext := ruled(2, n)
			size, err := floe.SealedLen(p, n)
			if err != nil {
				t.Fatal(err)
			}
			for _, workers := range []int{-1, 0, 2, 3, 7} {
				o := floe.Options{Workers: workers}
				open := func(what string, msg []byte) {
					t.Helper()
					if len(msg) != size {
						t.Errorf("%v, %d bytes, %d workers, %s: %d bytes, want %d", p, n, workers, what, len(msg), size)
					}
					for how, f := range map[string]func() ([]byte, error){
						"Open":         func() ([]byte, error) { return floe.Open(nil, key, testAAD, msg) },
						"Options.Open": func() ([]byte, error) { return o.Open(nil, key, testAAD, msg) },
						"OpenParallel": func() ([]byte, error) { return floe.OpenParallel(nil, key, testAAD, msg, workers) },
						"Read": func() ([]byte, error) {
							d, err := o.NewDecryptReader(bytes.NewReader(msg), key, testAAD)
							if err != nil {
								return nil, err
							}
							b, err := io.ReadAll(d)
							return b, errors.Join(err, d.Finish())
						},
						"WriteTo": func() ([]byte, error) {
							d, err := o.NewDecryptReader(iotest.HalfReader(bytes.NewReader(msg)), key, testAAD)
							if err != nil {
								return nil, err
							}
							var b bytes.Buffer
							_, err = d.WriteTo(&b)
							return b.Bytes(), err
						},
					} {
						if got, err := f(); err != nil || !bytes.Equal(got, plaintext) {
							t.Errorf("%v, %d bytes, %d workers, %s, %s: %d bytes, %v", p, n, workers, what, how, len(got), err)
						}
					}
				}
				msg, err := floe.SealParallel([]byte("dst"), key, testAAD, p, plaintext, workers)
				if err != nil {
					t.Fatal(err)
				}
				open("SealParallel", msg[3:])

				r, err := o.NewEncryptReader(bytes.NewReader(plaintext), key, testAAD, p)
				if err != nil {
					t.Fatal(err)
				}
				if msg, err = io.ReadAll(r); err != nil {
					t.Fatal(err)
				}
				open("EncryptReader", msg)

				var b bytes.Buffer
				w, err := o.NewEncryptWriter(&b, key, testAAD, p)
				if err != nil {
					t.Fatal(err)
				}
				half := plaintext[:n/2]
				if _, err := w.Write(half); err != nil {
					t.Fatal(err)
				}
				if _, err := w.ReadFrom(bytes.NewReader(plaintext[n/2:])); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				open("EncryptWriter", b.Bytes())
			}
		}
	}
}

// Every reader opens what the original and the other implementations made.
func TestStreamsOpenOthers(t *testing.T) {
	type message struct {
		name    string
		key     *floe.Key
		aad     []byte
		p       floe.Params
		msg, pt []byte
	}
	var all []message
	for _, m := range upstream(t) {
		all = append(all, message{m.name, m.key, m.aad, m.params, m.ct, m.pt})
	}
	for _, m := range crateMessages(t) {
		all = append(all, message{m.Name, newKey(t, m.Key), m.aad(), newParams(m.SegmentLen), m.ciphertext(), m.bytes(t)})
	}
	for _, m := range all {
		if m.p.SegmentLen() > 1<<31 && strconv.IntSize == 32 {
			continue // refused there
		}
		for _, workers := range []int{1, 2} {
			o := floe.Options{Require: m.p, Workers: workers}
			d, err := o.NewDecryptReader(iotest.OneByteReader(bytes.NewReader(m.msg)), m.key, m.aad)
			if err != nil {
				t.Fatal(err)
			}
			if d.Params() != m.p || d.Header() != floe.Header(m.msg[:74]) {
				t.Errorf("%s: %v, header %x", m.name, d.Params(), d.Header())
			}
			if got, err := io.ReadAll(d); err != nil || !bytes.Equal(got, m.pt) || d.Finish() != nil || !d.Done() {
				t.Errorf("%s: %d bytes, %v", m.name, len(got), err)
			}
		}
		o := floe.Options{Require: m.p}
		a, err := o.NewReaderAt(bytes.NewReader(m.msg), int64(len(m.msg)), m.key, m.aad)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(m.pt))
		if n, err := a.ReadAt(got, 0); err != nil || n != len(got) || !bytes.Equal(got, m.pt) || a.Size() != int64(n) {
			t.Errorf("%s: random access: %d bytes, %v", m.name, n, err)
		}
		l, err := m.p.CiphertextLayout(uint64(len(m.msg)))
		if err != nil || a.Layout() != l {
			t.Errorf("%s: layout %+v, %v", m.name, l, err)
		}
		d, err := o.NewDecryptor(m.key, m.aad, floe.Header(m.msg[:74]))
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for s := range l.Segments() {
			if d.Done() || d.Finish() == nil {
				t.Errorf("%s: done before segment %d", m.name, s.Position())
			}
			if got, err = d.AppendSegment(got, m.msg[s.CiphertextOffset():][:s.CiphertextLen()]); err != nil {
				t.Errorf("%s: segment %d: %v", m.name, s.Position(), err)
			}
		}
		if !bytes.Equal(got, m.pt) || !d.Done() || d.Finish() != nil || d.Position() != l.SegmentCount()-1 {
			t.Errorf("%s: segments in order: %d bytes", m.name, len(got))
		}
	}
}

// Messages that follow each other in one source are read one by one.
func TestFrames(t *testing.T) {
	key := newKey(t, testKey)
	for _, workers := range []int{1, 3} {
		var b bytes.Buffer
		for _, n := range lengths(floe.Params64B) {
			b.Write(seal(t, floe.Params64B, ruled(n, n)))
		}
		b.WriteString("end")
		for _, n := range lengths(floe.Params64B) {
			d, err := floe.Options{Workers: workers}.NewDecryptReader(&b, key, testAAD)
			if err != nil {
				t.Fatal(err)
			}
			if n%2 == 0 { // also without reading
				if got, err := io.ReadAll(d); err != nil || !bytes.Equal(got, ruled(n, n)) {
					t.Errorf("message of %d bytes: %x, %v", n, got, err)
				}
			}
			if err := d.FinishFrame(); err != nil {
				t.Errorf("message of %d bytes: %v", n, err)
			}
			if m, err := d.Read(make([]byte, 100)); m != 0 || err != io.EOF {
				t.Errorf("message of %d bytes: %d more, %v", n, m, err)
			}
		}
		if b.String() != "end" {
			t.Errorf("%q is left", b.String())
		}
	}
}

var errFault = errors.New("fault")

// faulty fails after n bytes.
func faulty(b []byte, n int) io.Reader {
	return io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(errFault))
}

func TestSourceFails(t *testing.T) {
	key, p := newKey(t, testKey), floe.Params64B
	plaintext := ruled(3, 100)
	msg := seal(t, p, plaintext)
	for _, workers := range []int{1, 3} {
		o := floe.Options{Workers: workers}
		for n := range msg {
			d, err := o.NewDecryptReader(faulty(msg, n), key, testAAD)
			if n < floe.HeaderSize {
				if err != errFault {
					t.Errorf("header cut to %d: %v", n, err)
				}
				continue
			}
			got, err := io.ReadAll(d)
			// The segments before are given, and no more.
			if want := (n - floe.HeaderSize) / 64 * 32; err != errFault || len(got) != want || !bytes.Equal(got, plaintext[:want]) {
				t.Errorf("%d workers: cut to %d: %d bytes, %v, want %d", workers, n, len(got), err, want)
			}
			if m, err := d.Read(make([]byte, 1)); m != 0 || !errors.Is(err, floe.ErrPoisoned) || !errors.Is(err, errFault) {
				t.Errorf("cut to %d: then %d, %v", n, m, err)
			}
			if err := d.Finish(); !errors.Is(err, floe.ErrPoisoned) {
				t.Errorf("cut to %d: finishing: %v", n, err)
			}
		}
		for n := range plaintext {
			e, err := o.NewEncryptReader(faulty(plaintext, n), key, testAAD, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(e)
			// A segment is complete if a byte after it was read.
			if want := floe.HeaderSize + max(0, n-1)/32*64; err != errFault || len(got) != want {
				t.Errorf("%d workers: plaintext cut to %d: %d bytes, %v, want %d", workers, n, len(got), err, want)
			}
			if _, err := e.Read(make([]byte, 1)); !errors.Is(err, floe.ErrPoisoned) || !errors.Is(err, errFault) || e.Done() {
				t.Errorf("plaintext cut to %d: then %v", n, err)
			}
			// Large reads have nothing of the plaintext in them.
			if e, err = o.NewEncryptReader(faulty(plaintext, n), key, testAAD, p); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 1000)
			for err == nil {
				clear(b)
				_, err = e.Read(b)
			}
			if len(bytes.Trim(b, "\x00")) > 0 {
				t.Errorf("plaintext cut to %d: the reader left %x", n, b)
			}
			// A writer can go on after its source has failed.
			var out bytes.Buffer
			w, err := o.NewEncryptWriter(&out, key, testAAD, p)
			if err != nil {
				t.Fatal(err)
			}
			if m, err := w.ReadFrom(faulty(plaintext, n)); m != int64(n) || err != errFault {
				t.Errorf("ReadFrom: %d, %v, want %d", m, err, n)
			}
			if _, err := w.Write(plaintext[n:]); err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if got, err := floe.Open(nil, key, testAAD, out.Bytes()); err != nil || !bytes.Equal(got, plaintext) {
				t.Errorf("written in two parts: %d bytes, %v", len(got), err)
			}
		}
	}
	for _, r := range []io.Reader{stuck{}, wrong(-1), wrong(1 << 20)} {
		if _, err := floe.NewDecryptReader(r, key, testAAD); err == nil || err == io.EOF {
			t.Errorf("%T: %v", r, err)
		}
		e, err := floe.NewEncryptReader(r, key, testAAD, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.WriteTo(io.Discard); err == nil {
			t.Errorf("%T: no error", r)
		}
	}
	if _, err := floe.NewDecryptReader(stuck{}, key, testAAD); err != io.ErrNoProgress {
		t.Errorf("a source that gives nothing: %v", err)
	}
}

// stuck gives nothing and no error.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// wrong returns an impossible count, also as a sink.
type wrong int

func (w wrong) Read([]byte) (int, error)  { return int(w), nil }
func (w wrong) Write([]byte) (int, error) { return int(w), nil }

// A sink that takes some bytes and then fails, or says nothing of it.
type sink struct {
	room int
	err  error
}

func (s *sink) Write(b []byte) (int, error) {
	n := min(len(b), s.room)
	s.room -= n
	if n < len(b) {
		return n, s.err
	}
	return n, nil
}

func TestSinkFails(t *testing.T) {
	key, p := newKey(t, testKey), floe.Params64B
	plaintext := ruled(4, 100)
	msg := seal(t, p, plaintext)
	for _, workers := range []int{1, 3} {
		o := floe.Options{Workers: workers}
		for _, fault := range []error{errFault, nil} {
			want := fault
			if fault == nil {
				want = io.ErrShortWrite
			}
			for n := range msg {
				w, err := o.NewEncryptWriter(&sink{n, fault}, key, testAAD, p)
				if n < floe.HeaderSize {
					if err != want {
						t.Errorf("header with room for %d: %v", n, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				_, err = w.Write(plaintext)
				if err != nil && err != want {
					t.Errorf("room for %d: writing: %v", n, err)
				}
				if err != nil {
					if _, err := w.Write(plaintext); !errors.Is(err, floe.ErrPoisoned) || !errors.Is(err, want) {
						t.Errorf("room for %d: writing again: %v", n, err)
					}
					if _, err := w.ReadFrom(bytes.NewReader(plaintext)); !errors.Is(err, floe.ErrPoisoned) {
						t.Errorf("room for %d: reading from: %v", n, err)
					}
				}
				for range 2 {
					if err := w.Close(); err != want {
						t.Errorf("room for %d: closing: %v, want %v", n, err, want)
					}
				}
				e, err := o.NewEncryptReader(bytes.NewReader(plaintext), key, testAAD, p)
				if err != nil {
					t.Fatal(err)
				}
				if m, err := e.WriteTo(&sink{n, fault}); m != int64(n) || err != want {
					t.Errorf("room for %d: WriteTo: %d, %v", n, m, err)
				}
				if _, err := e.WriteTo(io.Discard); !errors.Is(err, floe.ErrPoisoned) {
					t.Errorf("room for %d: WriteTo again: %v", n, err)
				}
			}
			for n := range plaintext {
				d, err := o.NewDecryptReader(bytes.NewReader(msg), key, testAAD)
				if err != nil {
					t.Fatal(err)
				}
				if m, err := d.WriteTo(&sink{n, fault}); m != int64(n) || err != want {
					t.Errorf("room for %d: WriteTo: %d, %v", n, m, err)
				}
				if _, err := d.WriteTo(io.Discard); !errors.Is(err, floe.ErrPoisoned) {
					t.Errorf("room for %d: WriteTo again: %v", n, err)
				}
			}
		}
	}
	for _, n := range []wrong{-1, 1 << 20} {
		if _, err := floe.NewEncryptWriter(n, key, testAAD, p); err == nil {
			t.Errorf("a sink that has written %d bytes is believed", n)
		}
	}
}

// A sink that counts its writes sees a segment in each.
type counter struct{ sizes []int }

func (c *counter) Write(b []byte) (int, error) { c.sizes = append(c.sizes, len(b)); return len(b), nil }

func TestWritesAreSegments(t *testing.T) {
	c := new(counter)
	w, err := floe.NewEncryptWriter(c, newKey(t, testKey), nil, floe.Params64B)
	if err != nil {
		t.Fatal(err)
	}
	for range 70 {
		if _, err := w.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{74, 64, 64}; !slices.Equal(c.sizes, want) {
		t.Errorf("written %v, want %v", c.sizes, want)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []int{74, 64, 64, 38}; !slices.Equal(c.sizes, want) {
		t.Errorf("written %v, want %v", c.sizes, want)
	}
}

func TestClosed(t *testing.T) {
	key, p := newKey(t, testKey), floe.Params64B
	var out bytes.Buffer
	w, err := floe.NewEncryptWriter(&out, key, testAAD, p)
	if err != nil {
		t.Fatal(err)
	}
	if w.Params() != p || w.Header() != floe.Header(out.Bytes()) {
		t.Errorf("%v, header %x", w.Params(), w.Header())
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	w.Abort()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := w.Write([]byte{1}); err != floe.ErrClosed {
		t.Errorf("writing after Close: %v", err)
	}
	if _, err := w.ReadFrom(&out); err != floe.ErrClosed {
		t.Errorf("reading from after Close: %v", err)
	}

	for _, workers := range []int{1, 3} {
		o := floe.Options{Workers: workers}
		out.Reset()
		if w, err = o.NewEncryptWriter(&out, key, testAAD, p); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(ruled(5, 1000)); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		if err := w.Close(); err != floe.ErrClosed {
			t.Errorf("closing after Abort: %v", err)
		}
		if _, err := w.Write([]byte{1}); !errors.Is(err, floe.ErrClosed) {
			t.Errorf("writing after Abort: %v", err)
		}
		if _, err := floe.Open(nil, key, testAAD, out.Bytes()); err == nil {
			t.Error("an aborted message opens")
		}

		e, err := o.NewEncryptReader(bytes.NewReader(ruled(6, 1000)), key, testAAD, p)
		if err != nil {
			t.Fatal(err)
		}
		d, err := o.NewDecryptReader(bytes.NewReader(seal(t, p, ruled(6, 1000))), key, testAAD)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []io.ReadCloser{e, d} {
			if _, err := r.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			if _, err := r.Read(make([]byte, 10)); err != floe.ErrClosed {
				t.Errorf("%T: reading after Close: %v", r, err)
			}
			if _, err := r.(io.WriterTo).WriteTo(io.Discard); err != floe.ErrClosed {
				t.Errorf("%T: WriteTo after Close: %v", r, err)
			}
		}
		if d.Finish() != floe.ErrClosed || d.FinishFrame() != floe.ErrClosed || d.Done() || e.Done() {
			t.Error("finished after Close")
		}
	}
}

// Reads of nothing are nothing, at any time.
func TestEmptyReads(t *testing.T) {
	key := newKey(t, testKey)
	d, err := floe.NewDecryptReader(bytes.NewReader(seal(t, floe.Params64B, ruled(7, 32))), key, testAAD)
	if err != nil {
		t.Fatal(err)
	}
	e, err := floe.NewEncryptReader(bytes.NewReader(ruled(7, 32)), key, testAAD, floe.Params64B)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []io.Reader{d, e} {
		for range 2 {
			if n, err := r.Read(nil); n != 0 || err != nil {
				t.Errorf("%T: %d, %v", r, n, err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Error(err)
			}
		}
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%T: %d, %v at the end", r, n, err)
		}
	}
}

// A segment is given as soon as the source has all of it: nothing waits for the
// next one's prefix.
func TestNoWaiting(t *testing.T) {
	msg := seal(t, floe.Params64B, ruled(8, 100))
	r, w := io.Pipe()
	defer r.Close()
	go w.Write(msg[:floe.HeaderSize])
	d, err := floe.NewDecryptReader(r, newKey(t, testKey), testAAD)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		go w.Write(msg[floe.HeaderSize+64*i:][:64])
		if n, err := d.Read(make([]byte, 100)); n != 32 || err != nil {
			t.Fatalf("segment %d: %d, %v", i, n, err)
		}
	}
}

// A header may announce 4 GiB: memory follows the data.
func TestMemoryFollowsData(t *testing.T) {
	key := newKey(t, testKey)
	huge := newParams(floe.MaxSegmentLen)
	if strconv.IntSize == 32 {
		if _, err := floe.NewEncryptReader(nil, key, nil, huge); err != floe.ErrOverflow {
			t.Errorf("segments longer than the memory: %v", err)
		}
		huge = newParams(1<<31 - 5) // the longest there
	}
	plaintext := ruled(9, 100_000)
	for _, workers := range []int{1, 4} {
		o := floe.Options{Workers: workers}
		for what, f := range map[string]func() ([]byte, error){
			"Seal": func() ([]byte, error) { return o.Seal(nil, key, testAAD, huge, plaintext) },
			"EncryptReader": func() ([]byte, error) {
				e, err := o.NewEncryptReader(bytes.NewReader(plaintext), key, testAAD, huge)
				if err != nil {
					return nil, err
				}
				return io.ReadAll(e)
			},
			"EncryptWriter": func() ([]byte, error) {
				var b bytes.Buffer
				w, err := o.NewEncryptWriter(&b, key, testAAD, huge)
				if err != nil {
					return nil, err
				}
				_, err = w.Write(plaintext)
				err = errors.Join(err, w.Close())
				return b.Bytes(), err
			},
		} {
			var msg []byte
			var err error
			if got := allocated(func() { msg, err = f() }); got > 1<<20 {
				t.Errorf("%s allocates %d bytes for %d", what, got, len(plaintext))
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for how, open := range map[string]func() ([]byte, error){
				"Open": func() ([]byte, error) { return o.Open(nil, key, testAAD, msg) },
				"DecryptReader": func() ([]byte, error) {
					d, err := o.NewDecryptReader(bytes.NewReader(msg), key, testAAD)
					if err != nil {
						return nil, err
					}
					return io.ReadAll(d)
				},
				"DecryptReader, cut": func() ([]byte, error) {
					d, err := o.NewDecryptReader(bytes.NewReader(msg[:len(msg)-1]), key, testAAD)
					if err != nil {
						return nil, err
					}
					if _, err := io.ReadAll(d); !errors.Is(err, floe.ErrCiphertextLength) {
						return nil, fmt.Errorf("cut: %v", err)
					}
					return plaintext, nil
				},
				"ReaderAt": func() ([]byte, error) {
					a, err := o.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), key, testAAD)
					if err != nil {
						return nil, err
					}
					return a.ReadSegment(nil, 0)
				},
			} {
				var got []byte
				if n := allocated(func() { got, err = open() }); n > 1<<20 {
					t.Errorf("%s, %s allocates %d bytes for %d", what, how, n, len(plaintext))
				}
				if err != nil || !bytes.Equal(got, plaintext) {
					t.Errorf("%s, %s: %d bytes, %v", what, how, len(got), err)
				}
			}
		}
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
