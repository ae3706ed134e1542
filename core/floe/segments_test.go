package floe_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
)

// newPair returns an encryptor and the decryptor of its message.
func newPair(t testing.TB, p floe.Params) (*floe.Encryptor, *floe.Decryptor) {
	t.Helper()
	e, err := floe.NewEncryptor(newKey(t, testKey), testAAD, p)
	if err != nil {
		t.Fatal(err)
	}
	d, err := floe.NewDecryptor(newKey(t, testKey), testAAD, e.Header())
	if err != nil {
		t.Fatal(err)
	}
	if e.Params() != p || d.Params() != p {
		t.Fatal("other parameters")
	}
	return e, d
}

// A call that fails consumes nothing.
func TestRetry(t *testing.T) {
	e, d := newPair(t, floe.Params64B)
	full := ruled(1, 32)
	refuse := func(err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	for i := range uint64(3) {
		for _, n := range []int{0, 31, 33} {
			got, err := e.AppendSegment([]byte("dst"), make([]byte, n))
			refuse(err, floe.ErrPlaintextLength)
			if string(got) != "dst" {
				t.Errorf("dst became %q", got)
			}
		}
		_, err := e.AppendFinal(nil, make([]byte, 33))
		refuse(err, floe.ErrPlaintextLength)
		if e.Position() != i || e.Done() {
			t.Errorf("at %d, want %d", e.Position(), i)
		}
		segment, err := e.AppendSegment(nil, full)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 3, 4, 31, 63} {
			_, err := d.AppendSegment(nil, segment[:n])
			refuse(err, floe.ErrCiphertextLength)
		}
		_, err = d.AppendSegment(nil, append(bytes.Clone(segment), 0))
		refuse(err, floe.ErrCiphertextLength)
		bad := bytes.Clone(segment)
		bad[30] ^= 1
		room := append(make([]byte, 0, 100), "dst"...)
		got, err := d.AppendSegment(room, bad)
		refuse(err, floe.ErrAuthentication)
		if string(got) != "dst" || !bytes.Equal(room[3:100], make([]byte, 97)) {
			t.Errorf("left %x", room[:100])
		}
		refuse(d.Finish(), floe.ErrTruncated)
		if d.Position() != i || d.Done() {
			t.Errorf("at %d, want %d", d.Position(), i)
		}
		if got, err := d.AppendSegment(nil, segment); err != nil || !bytes.Equal(got, full) {
			t.Errorf("segment %d: %x, %v", i, got, err)
		}
		_, err = d.AppendSegment(nil, segment)
		refuse(err, floe.ErrAuthentication) // a second time
	}
	last, err := e.AppendFinal(nil, full[:5])
	if err != nil || !e.Done() || e.Position() != 3 {
		t.Fatal(e.Position(), err)
	}
	for _, n := range []int{0, 32, 33} {
		_, err = e.AppendSegment(nil, make([]byte, n))
		refuse(err, floe.ErrClosed)
		_, err = e.AppendFinal(nil, make([]byte, n))
		refuse(err, floe.ErrClosed)
	}
	if got, err := d.AppendSegment(nil, last); err != nil || !bytes.Equal(got, full[:5]) || !d.Done() || d.Finish() != nil || d.Position() != 3 {
		t.Errorf("final segment: %x, %v", got, err)
	}
	for _, b := range [][]byte{nil, last} {
		_, err = d.AppendSegment(nil, b)
		refuse(err, floe.ErrClosed)
	}
	if e.Close() != nil || d.Close() != nil || d.Finish() != nil {
		t.Error("closing changes something")
	}
	// Closed before the end.
	e, d = newPair(t, floe.Params64B)
	e.Close()
	d.Close()
	_, err = e.AppendFinal(nil, nil)
	refuse(err, floe.ErrClosed)
	_, err = d.AppendSegment(nil, last)
	refuse(err, floe.ErrClosed)
	refuse(d.Finish(), floe.ErrTruncated)
}

// The last position is for the final segment alone.
func TestSegmentLimit(t *testing.T) {
	e, d := newPair(t, floe.Params64B)
	e.SetPosition(1<<40 - 2)
	d.SetPosition(1<<40 - 2)
	a, err := e.AppendSegment(nil, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := e.AppendSegment(nil, make([]byte, 32)); err != floe.ErrSegmentLimit {
			t.Errorf("position 2^40-1: %v", err)
		}
	}
	b, err := e.AppendFinal(nil, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.AppendSegment(nil, a); err != nil {
		t.Error(err)
	}
	if _, err := d.AppendSegment(nil, a); err != floe.ErrSegmentLimit {
		t.Errorf("position 2^40-1: %v", err)
	}
	if _, err := d.AppendSegment(nil, b); err != nil || d.Finish() != nil {
		t.Error(err)
	}

	var out bytes.Buffer
	w, err := floe.NewEncryptWriter(&out, newKey(t, testKey), nil, floe.Params64B)
	if err != nil {
		t.Fatal(err)
	}
	w.SetPosition(1<<40 - 1)
	if _, err := w.Write(make([]byte, 32)); err != nil {
		t.Error(err)
	}
	if _, err := w.Write(make([]byte, 1)); err != floe.ErrSegmentLimit {
		t.Errorf("position 2^40-1: %v", err)
	}
	if err := w.Close(); err != floe.ErrSegmentLimit {
		t.Errorf("closing after that: %v", err)
	}
}

// Segments are sealed and opened where they lie, and other overlaps refused.
func TestSegmentsInPlace(t *testing.T) {
	e, _ := newPair(t, floe.Params64B)
	full := ruled(2, 32)
	buf := make([]byte, 300)
	at := 100 + floe.PayloadOffset
	for off := 20; off < 200; off++ {
		copy(buf[off:], full)
		_, err := e.AppendSegment(buf[100:100], buf[off:off+32])
		if want := off+32 > 100 && off < 164 && off != at; (err == floe.ErrOverlap) != want || !want && err != nil {
			t.Errorf("plaintext at %d: %v", off, err)
		}
	}
	e, d := newPair(t, floe.Params64B)
	copy(buf[at:], full)
	segment, err := e.AppendSegment(buf[100:100], buf[at:at+32])
	if err != nil || &segment[0] != &buf[100] {
		t.Fatal(err)
	}
	for off := 20; off < 200; off++ {
		if want := off+32 > 100 && off < 164 && off != at; want {
			if _, err := d.AppendSegment(buf[off:off], segment); err != floe.ErrOverlap {
				t.Errorf("plaintext at %d: %v", off, err)
			}
		}
	}
	got, err := d.AppendSegment(segment[floe.PayloadOffset:floe.PayloadOffset], segment)
	if err != nil || !bytes.Equal(got, full) || &got[0] != &buf[at] {
		t.Errorf("got %x, %v", got, err)
	}
	copy(buf[at:], full[:7])
	if segment, err = e.AppendFinal(buf[100:100], buf[at:at+7]); err != nil {
		t.Fatal(err)
	}
	if got, err := d.AppendSegment(nil, segment); err != nil || !bytes.Equal(got, full[:7]) {
		t.Errorf("got %x, %v", got, err)
	}
}
