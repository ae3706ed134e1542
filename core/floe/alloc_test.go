package floe_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
)

// endless gives zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Nothing is allocated for a segment after the first, and for a whole message
// no more for many segments than for one.
func TestAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop what it has")
	}
	key := newKey(t, testKey)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	type row struct {
		name string
		f    func()
	}
	var rows []row
	p := floe.Params4KiB
	full := int(p.SegmentPlaintextLen())
	plaintext := ruled(1, 200*full)
	for _, workers := range []int{1, 2} {
		o := floe.Options{Workers: workers}
		name := func(s string) string {
			if workers > 1 {
				s += ", workers"
			}
			return s
		}
		w, err := o.NewEncryptWriter(io.Discard, key, testAAD, p)
		must(err)
		rows = append(rows, row{name("EncryptWriter.Write, segment"), func() { _, err := w.Write(plaintext[:full]); must(err) }})
		w2, err := o.NewEncryptWriter(io.Discard, key, testAAD, p)
		must(err)
		rows = append(rows, row{name("EncryptWriter.Write, many"), func() { _, err := w2.Write(plaintext[:10*full+1]); must(err) }})
		w3, err := o.NewEncryptWriter(io.Discard, key, testAAD, p)
		must(err)
		source := &io.LimitedReader{R: endless{}}
		rows = append(rows, row{name("EncryptWriter.ReadFrom"), func() { source.N = int64(3*full + 1); _, err := w3.ReadFrom(source); must(err) }})
		for _, n := range []int{1 << 10, 4 << 10, 64 << 10} {
			e, err := o.NewEncryptReader(endless{}, key, testAAD, p)
			must(err)
			buf := make([]byte, n)
			rows = append(rows, row{name("EncryptReader.Read"), func() { _, err := e.Read(buf); must(err) }})
			msg := seal(t, p, ruled(1, 2000*full))
			d, err := o.NewDecryptReader(bytes.NewReader(msg), key, testAAD)
			must(err)
			rows = append(rows, row{name("DecryptReader.Read"), func() { _, err := d.Read(buf); must(err) }})
		}
	}
	e, d := newPair(t, p)
	buf := make([]byte, p.SegmentLen())
	rows = append(rows, row{"Encryptor and Decryptor, in place", func() {
		s, err := e.AppendSegment(buf[:0], buf[floe.PayloadOffset:][:full])
		must(err)
		_, err = d.AppendSegment(s[floe.PayloadOffset:floe.PayloadOffset], s)
		must(err)
	}})
	a, _ := newReaderAt(t, p, plaintext)
	rng := 0
	for _, n := range []int{100, 4096, full, 3 * full} {
		buf := make([]byte, n)
		rows = append(rows, row{"ReaderAt.ReadAt", func() {
			rng = (rng + 7919) % (190 * full)
			_, err := a.ReadAt(buf, int64(rng))
			must(err)
		}})
	}
	rows = append(rows, row{"ReaderAt.ReadSegment", func() { _, err := a.ReadSegment(buf[:0], 5); must(err) }})
	all, err := a.Section(0, a.Size())
	must(err)
	rows = append(rows, row{"SectionReader.WriteTo", func() {
		_, err := all.Seek(0, io.SeekStart)
		must(err)
		_, err = all.WriteTo(io.Discard)
		must(err)
	}})
	for _, r := range rows {
		for range 30 { // past the growth of buffers and the draws of nonces
			r.f()
		}
		if got := testing.AllocsPerRun(50, r.f); got > 0 {
			t.Errorf("%s: %v allocations", r.name, got)
		}
	}

	msg := make([]byte, 0, 1<<20)
	back := make([]byte, 0, 1<<20)
	var one, many float64
	for i, n := range []int{1, 200 * full} {
		allocs := testing.AllocsPerRun(50, func() {
			m, err := floe.Seal(msg, key, testAAD, p, plaintext[:n])
			must(err)
			_, err = floe.Open(back, key, testAAD, m)
			must(err)
		})
		if i == 0 {
			one = allocs
		} else {
			many = allocs
		}
	}
	if many > one || one > 40 {
		t.Errorf("sealing and opening one segment allocates %v times, and 200 segments %v times", one, many)
	}
}
