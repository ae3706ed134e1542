package floe_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/cachekit-go/cachekit/core/floe"
)

// newReaderAt returns a reader of the message of plaintext, and its source.
func newReaderAt(t testing.TB, p floe.Params, plaintext []byte) (*floe.ReaderAt, *counting) {
	t.Helper()
	msg := seal(t, p, plaintext)
	source := &counting{r: bytes.NewReader(msg)}
	a, err := floe.NewReaderAt(source, int64(len(msg)), newKey(t, testKey), testAAD)
	if err != nil {
		t.Fatal(err)
	}
	return a, source
}

// counting counts the reads of a source.
type counting struct {
	r io.ReaderAt
	n atomic.Int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.n.Add(1)
	return c.r.ReadAt(p, off)
}

// ReadAt of any range is that of the plaintext.
func TestReadAtIsSlice(t *testing.T) {
	for _, p := range testParams[:3] {
		for _, n := range lengths(p) {
			plaintext := ruled(1, n)
			a, _ := newReaderAt(t, p, plaintext)
			want := bytes.NewReader(plaintext)
			if a.Size() != int64(n) || a.Params() != p {
				t.Errorf("%d bytes: size %d, %v", n, a.Size(), a.Params())
			}
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			for i := range 300 {
				off, length := rng.IntN(n+10), rng.IntN(n+10)
				if i%3 == 0 {
					length = rng.IntN(40)
				}
				x, y := bytes.Repeat([]byte{1}, length), bytes.Repeat([]byte{1}, length)
				gotN, gotErr := a.ReadAt(x, int64(off))
				wantN, wantErr := want.ReadAt(y, int64(off))
				if length == 0 {
					wantErr = nil // spec section 8.4
				}
				if gotN != wantN || gotErr != wantErr || !bytes.Equal(x, y) {
					t.Fatalf("%v: %d at %d of %d: got %d, %v, want %d, %v", p, length, off, n, gotN, gotErr, wantN, wantErr)
				}
			}
			for _, off := range []int64{-1, math.MinInt64} {
				if m, err := a.ReadAt(make([]byte, 1), off); m != 0 || err != floe.ErrRange {
					t.Errorf("at %d: %d, %v", off, m, err)
				}
			}
			if m, err := a.ReadAt(make([]byte, 1), math.MaxInt64); m != 0 || err != io.EOF {
				t.Errorf("far behind: %d, %v", m, err)
			}
			for i := range a.Layout().SegmentCount() {
				s, _ := a.Layout().Segment(i)
				got, err := a.ReadSegment([]byte("dst"), i)
				if want := plaintext[s.PlaintextOffset():][:s.PlaintextLen()]; err != nil || !bytes.Equal(got, append([]byte("dst"), want...)) {
					t.Errorf("segment %d: %x, %v", i, got, err)
				}
			}
			if got, err := a.ReadSegment([]byte("dst"), a.Layout().SegmentCount()); err != floe.ErrRange || string(got) != "dst" {
				t.Errorf("segment behind the last: %q, %v", got, err)
			}
		}
	}
}

func TestSectionReader(t *testing.T) {
	plaintext := ruled(2, 200)
	a, source := newReaderAt(t, floe.Params64B, plaintext)
	for off := int64(0); off <= 200; off += 13 {
		for n := int64(0); n <= 200-off; n += 11 {
			s, err := a.Section(off, n)
			if err != nil || s.Size() != n {
				t.Fatalf("%d from %d: %v", n, off, err)
			}
			want := plaintext[off : off+n]
			if err := iotest.TestReader(s, want); err != nil {
				t.Errorf("%d from %d: %v", n, off, err)
			}
			if _, err := s.Seek(n/2, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if m, err := s.WriteTo(&b); err != nil || m != n-n/2 || !bytes.Equal(b.Bytes(), want[n/2:]) {
				t.Errorf("%d from %d: written %d, %v", n, off, m, err)
			}
			if m, err := s.WriteTo(&b); m != 0 || err != nil {
				t.Errorf("at the end: written %d, %v", m, err)
			}
		}
	}
	for _, v := range [][2]int64{{-1, 1}, {0, 201}, {201, 0}, {200, 1}, {5, -1}, {math.MaxInt64, math.MaxInt64}} {
		if s, err := a.Section(v[0], v[1]); err != floe.ErrRange || s != nil {
			t.Errorf("%d from %d: %v", v[1], v[0], err)
		}
	}
	s, err := a.Section(10, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		offset int64
		whence int
		want   int64
	}{
		{5, io.SeekStart, 5}, {3, io.SeekCurrent, 8}, {-8, io.SeekCurrent, 0}, {10, io.SeekEnd, 110}, {-100, io.SeekEnd, 0},
		{math.MaxInt64, io.SeekStart, math.MaxInt64}, {0, io.SeekCurrent, math.MaxInt64},
	} {
		if got, err := s.Seek(v.offset, v.whence); got != v.want || err != nil {
			t.Errorf("%+v: %d, %v", v, got, err)
		}
	}
	if n, err := s.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("far behind: %d, %v", n, err)
	}
	if n, err := s.WriteTo(io.Discard); n != 0 || err != nil {
		t.Errorf("far behind: %d, %v", n, err)
	}
	for _, v := range [][2]int64{{-1, io.SeekStart}, {-101, io.SeekEnd}, {1, io.SeekCurrent}, {math.MaxInt64, io.SeekEnd}, {math.MinInt64, io.SeekCurrent}, {0, 3}, {0, -1}} {
		if got, err := s.Seek(v[0], int(v[1])); err != floe.ErrRange || got != 0 {
			t.Errorf("%v: %d, %v", v, got, err)
		}
	}
	if got, err := s.Seek(0, io.SeekCurrent); got != math.MaxInt64 || err != nil {
		t.Errorf("moved to %d, %v", got, err)
	}
	if n, err := s.ReadAt(make([]byte, 1), -1); n != 0 || err != floe.ErrRange {
		t.Errorf("ReadAt: %d, %v", n, err)
	}
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if n, err := s.WriteTo(&sink{40, errFault}); n != 40 || err != errFault {
		t.Errorf("a sink that fails: %d, %v", n, err)
	}
	// What the sink has taken is not written again.
	var rest bytes.Buffer
	if n, err := s.WriteTo(&rest); n != 60 || err != nil || !bytes.Equal(rest.Bytes(), plaintext[50:110]) {
		t.Errorf("after a sink that failed: %d, %v", n, err)
	}

	// Small reads in order read each segment once; reads of nothing, none.
	source.n.Store(0)
	all, err := a.Section(0, 200)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, iotest.OneByteReader(all)); err != nil {
		t.Fatal(err)
	}
	if n := source.n.Load(); n > 7 {
		t.Errorf("7 segments were read %d times", n)
	}
	source.n.Store(0)
	for off := range int64(200) {
		if n, err := a.ReadAt(nil, off); n != 0 || err != nil {
			t.Error(n, err)
		}
	}
	if n := source.n.Load(); n != 0 {
		t.Errorf("nothing was read %d times", n)
	}
}

func TestReaderAtClose(t *testing.T) {
	a, _ := newReaderAt(t, floe.Params64B, ruled(3, 100))
	s, err := a.Section(0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.ReadAt(make([]byte, 1), 0); err != floe.ErrClosed {
		t.Error(err)
	}
	if _, err := a.ReadSegment(nil, 0); err != floe.ErrClosed {
		t.Error(err)
	}
	if _, err := s.WriteTo(io.Discard); err != floe.ErrClosed {
		t.Error(err)
	}
}

// Many goroutines read at once, in small and large pieces, and one closes the
// reader in the end.
func TestConcurrentReadAt(t *testing.T) {
	plaintext := ruled(4, 300*32+5)
	a, _ := newReaderAt(t, floe.Params64B, plaintext)
	var wg, reads sync.WaitGroup
	for i := range uint64(16) {
		wg.Add(1)
		reads.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(i, 1))
			for j := 0; ; j++ {
				if j == 200 {
					reads.Done() // and go on until the reader is closed
				}
				off := rng.IntN(len(plaintext))
				p := make([]byte, 1+rng.IntN(200))
				n, err := a.ReadAt(p, int64(off))
				if err == floe.ErrClosed && j >= 200 {
					return
				}
				if err != nil && err != io.EOF || !bytes.Equal(p[:n], plaintext[off:min(len(plaintext), off+len(p))]) {
					t.Errorf("%d at %d: %d, %v", len(p), off, n, err)
					if j < 200 {
						reads.Done()
					}
					return
				}
			}
		}()
	}
	reads.Wait()
	a.Close()
	wg.Wait()
}

// Errors of the source are given as they are.
func TestReaderAtSourceFails(t *testing.T) {
	msg := seal(t, floe.Params64B, ruled(5, 100))
	for _, v := range []struct {
		n   int
		err error
	}{{5, errFault}, {-1, nil}, {1 << 20, nil}} {
		if _, err := floe.NewReaderAt(fixedReaderAt{v.n, v.err}, int64(len(msg)), newKey(t, testKey), testAAD); err == nil || v.err != nil && !errors.Is(err, v.err) {
			t.Errorf("a source that gives %d, %v: %v", v.n, v.err, err)
		}
	}
}

// fixedReaderAt returns a count and an error, right or wrong.
type fixedReaderAt struct {
	n   int
	err error
}

func (f fixedReaderAt) ReadAt([]byte, int64) (int, error) { return f.n, f.err }
