package floe_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
)

func TestNewParams(t *testing.T) {
	for n, ok := range map[uint32]bool{
		0: false, 32: false, 33: false, 63: false, math.MaxUint32: false,
		64: true, 65: true, 4096: true, 65536: true, 1_000_000: true, 1 << 20: true, math.MaxUint32 - 1: true,
	} {
		p, err := floe.NewParams(n)
		if ok && (err != nil || p.SegmentLen() != n || p.SegmentPlaintextLen() != n-32 || p == floe.Params{}) {
			t.Errorf("%d: %v, %v", n, p, err)
		}
		if !ok && (!errors.Is(err, floe.ErrSegmentLength) || p != floe.Params{}) {
			t.Errorf("%d: %v, %v", n, p, err)
		}
	}
	for p, n := range map[floe.Params]uint32{
		floe.Params64B: 64, floe.Params4KiB: 4 << 10, floe.Params1MiB: 1 << 20, floe.Params4MiB: 4 << 20,
		floe.Params5MiB: 5 << 20, floe.Params8MiB: 8 << 20, floe.Params16MiB: 16 << 20,
	} {
		if q, err := floe.NewParams(n); p != q || err != nil {
			t.Errorf("%v is not %v", p, q)
		}
	}
	var zero floe.Params
	if zero.SegmentLen() != 0 || zero.SegmentPlaintextLen() != 0 {
		t.Errorf("the zero value is %v", zero)
	}
	for what, f := range map[string]func() error{
		"PlaintextLayout":  func() error { _, err := zero.PlaintextLayout(0); return err },
		"CiphertextLayout": func() error { _, err := zero.CiphertextLayout(106); return err },
		"DecodePrefix":     func() error { _, err := zero.DecodePrefix([4]byte{0, 0, 0, 32}); return err },
		"SealedLen":        func() error { _, err := floe.SealedLen(zero, 0); return err },
		"Seal":             func() error { _, err := floe.Seal(nil, newKey(t, testKey), nil, zero, nil); return err },
		"NewEncryptor":     func() error { _, err := floe.NewEncryptor(newKey(t, testKey), nil, zero); return err },
		"NewEncryptReader": func() error { _, err := floe.NewEncryptReader(nil, newKey(t, testKey), nil, zero); return err },
		"NewEncryptWriter": func() error { _, err := floe.NewEncryptWriter(nil, newKey(t, testKey), nil, zero); return err },
		"OpenWithParams":   func() error { _, err := floe.OpenWithParams(nil, newKey(t, testKey), nil, zero, nil); return err },
	} {
		if err := f(); err != floe.ErrParamsMismatch {
			t.Errorf("%s without parameters: %v", what, err)
		}
	}
}

func TestDecodePrefix(t *testing.T) {
	p := floe.Params4KiB
	for v, want := range map[uint32]floe.Framing{
		math.MaxUint32: {Len: 4096}, 32: {Final: true, Len: 32}, 33: {Final: true, Len: 33}, 4096: {Final: true, Len: 4096},
	} {
		if got, err := p.DecodePrefix([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}); got != want || err != nil {
			t.Errorf("%d: %+v, %v", v, got, err)
		}
	}
	// Also those whose low 16 bits would do.
	for _, v := range []uint32{0, 31, 4097, 69_632, 1_052_672, 65_568, math.MaxUint32 - 1} {
		_, err := p.DecodePrefix([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
		var l *floe.LengthError
		if !errors.As(err, &l) || l.Kind != floe.ErrCiphertextLength || l.Actual != uint64(v) || l.Min != 32 || l.Max != 4096 {
			t.Errorf("%d: %v", v, err)
		}
	}
}

func TestLayoutLimits(t *testing.T) {
	p, largest := floe.Params64B, newParams(floe.MaxSegmentLen)
	const full = uint64(32) << 40 // what 2^40 segments of 64 bytes hold
	l, err := p.PlaintextLayout(full)
	if err != nil || l.SegmentCount() != floe.MaxSegments || l.CiphertextLen() != 74+64<<40 || l.Final().Position() != 1<<40-1 || l.Final().PlaintextLen() != 32 {
		t.Errorf("the longest message: %+v, %v", l, err)
	}
	if m, err := p.CiphertextLayout(l.CiphertextLen()); err != nil || m != l {
		t.Errorf("the longest message: %+v, %v", m, err)
	}
	for _, v := range []struct {
		what string
		f    func(uint64) (floe.Layout, error)
		n    uint64
		want error
	}{
		{"plaintext", p.PlaintextLayout, full + 1, floe.ErrSegmentLimit},
		{"plaintext", p.PlaintextLayout, math.MaxUint64, floe.ErrSegmentLimit},
		{"plaintext", largest.PlaintextLayout, math.MaxUint64, floe.ErrOverflow},
		{"plaintext", largest.PlaintextLayout, math.MaxUint64 - 74 - 33<<32, nil},
		{"ciphertext", p.CiphertextLayout, 0, floe.ErrHeaderLength},
		{"ciphertext", p.CiphertextLayout, 73, floe.ErrHeaderLength},
		{"ciphertext", p.CiphertextLayout, 74, floe.ErrTruncated},
		{"ciphertext", p.CiphertextLayout, 75, floe.ErrCiphertextLength},
		{"ciphertext", p.CiphertextLayout, 105, floe.ErrCiphertextLength},
		{"ciphertext", p.CiphertextLayout, 106, nil},
		{"ciphertext", p.CiphertextLayout, 74 + 64, nil},
		{"ciphertext", p.CiphertextLayout, 74 + 64 + 31, floe.ErrCiphertextLength},
		{"ciphertext", p.CiphertextLayout, 74 + 64 + 32, nil},
		{"ciphertext", p.CiphertextLayout, 74 + 64<<40 + 32, floe.ErrSegmentLimit},
		{"ciphertext", p.CiphertextLayout, math.MaxUint64, floe.ErrSegmentLimit},
		{"ciphertext", largest.CiphertextLayout, math.MaxUint64, nil},
	} {
		if l, err := v.f(v.n); !errors.Is(err, v.want) || (err != nil) != (l == floe.Layout{}) {
			t.Errorf("%s of %d bytes: %+v, %v, want %v", v.what, v.n, l, err, v.want)
		}
	}
	if n, err := floe.SealedLen(p, -1); err != floe.ErrOverflow {
		t.Errorf("SealedLen of -1: %d, %v", n, err)
	}
	if n, err := floe.SealedLen(largest, math.MaxInt); err != floe.ErrOverflow {
		t.Errorf("SealedLen of the most: %d, %v", n, err)
	}
}

// The segments of a layout lie side by side and cover both texts, and the
// layout of the ciphertext's length is the same.
func TestLayoutCovers(t *testing.T) {
	check := func(l floe.Layout) {
		t.Helper()
		pt, ct, n := uint64(0), uint64(floe.HeaderSize), uint64(0)
		for s := range l.Segments() {
			if s.Position() != n || s.PlaintextOffset() != pt || s.CiphertextOffset() != ct ||
				s.CiphertextLen() != s.PlaintextLen()+floe.Overhead || s.Params() != l.Params() || s.IsFinal() != (n == l.SegmentCount()-1) {
				t.Fatalf("%+v: segment %+v at %d, %d", l, s, pt, ct)
			}
			if got, ok := l.Segment(n); got != s || !ok {
				t.Fatalf("%+v: segment %d is %+v", l, n, got)
			}
			n++
			pt += uint64(s.PlaintextLen())
			ct += uint64(s.CiphertextLen())
		}
		if n != l.SegmentCount() || pt != l.PlaintextLen() || ct != l.CiphertextLen() || !l.Final().IsFinal() {
			t.Fatalf("%+v: the segments have %d and %d bytes", l, pt, ct)
		}
		for s := range l.Backward() {
			n--
			if got, _ := l.Segment(n); got != s {
				t.Fatalf("%+v: backward %+v at %d", l, s, n)
			}
		}
		if s, ok := l.Segment(l.SegmentCount()); ok || n != 0 {
			t.Fatalf("%+v: segment %+v behind the last", l, s)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range append(testParams, floe.UncheckedParams(33, 0), floe.Params1MiB, newParams(floe.MaxSegmentLen)) {
		for i := range 300 {
			n := uint64(i)
			if i > 200 {
				n = rng.Uint64N(100*uint64(p.SegmentLen()) + 1)
			}
			l, err := p.PlaintextLayout(n)
			if err != nil {
				t.Fatal(err)
			}
			check(l)
			m, err := p.CiphertextLayout(l.CiphertextLen())
			if err != nil || m != l {
				t.Fatalf("%v: layout of %d bytes is %+v, and that of its length %+v, %v", p, n, l, m, err)
			}
			// The least number of segments.
			if full := uint64(p.SegmentPlaintextLen()); l.SegmentCount() > 1 && (l.SegmentCount()-1)*full >= n {
				t.Fatalf("%+v: a segment less would do", l)
			}
			if m, err := p.CiphertextLayout(n); err == nil {
				check(m)
			}
		}
	}
	var zero floe.Layout
	for range zero.Segments() {
		t.Error("the zero value has segments")
	}
	for range zero.Backward() {
		t.Error("the zero value has segments")
	}
	if s := zero.Final(); s != (floe.Segment{}) || s.CiphertextLen() != 0 || s.PlaintextLen() != 0 {
		t.Errorf("the zero value has the final segment %+v", s)
	}
	// Iterators stop when asked to.
	l, _ := floe.Params64B.PlaintextLayout(100)
	for range l.Segments() {
		break
	}
	for range l.Backward() {
		break
	}
}

func TestHeader(t *testing.T) {
	msg := seal(t, floe.Params4KiB, nil)
	for n := range msg {
		h, err := floe.ParseHeader(msg[:n])
		if (err == nil) != (n == floe.HeaderSize) || err != nil && !errors.Is(err, floe.ErrHeaderLength) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err == nil && string(h[:]) != string(msg[:n]) {
			t.Errorf("got %x", h)
		}
	}
	h := floe.Header(msg[:floe.HeaderSize])
	if p, err := h.Params(); p != floe.Params4KiB || err != nil {
		t.Errorf("got %v, %v", p, err)
	}
	for i := range 10 {
		for _, b := range []byte{0, 1, 31, 63, 255} {
			bad := h
			bad[i] = b
			p, err := bad.Params()
			if bad == h {
				continue
			}
			inLength := i >= 2 && i < 6
			n := uint32(bad[2])<<24 | uint32(bad[3])<<16 | uint32(bad[4])<<8 | uint32(bad[5])
			if inLength && n >= 64 && (err != nil || p.SegmentLen() != n) || (!inLength || n < 64) && !errors.Is(err, floe.ErrHeaderParams) {
				t.Errorf("byte %d is %d: %v, %v", i, b, p, err)
			}
		}
	}
}
