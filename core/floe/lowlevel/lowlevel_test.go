package lowlevel_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
	"github.com/cachekit-go/cachekit/core/floe/lowlevel"
)

// A hexBytes is a JSON string of hexadecimal digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	d, err := hex.DecodeString(s)
	*h = d
	return err
}

func newKey(t testing.TB, b []byte) *floe.Key {
	t.Helper()
	k, err := floe.NewKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var testKey = bytes.Repeat([]byte{0x42}, floe.KeySize)

// layout returns the layout of n bytes.
func layout(t testing.TB, p floe.Params, n uint64) floe.Layout {
	t.Helper()
	l, err := p.PlaintextLayout(n)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// segmentAt returns the segment of some layout at a position.
func segmentAt(t testing.TB, p floe.Params, position uint64, final bool, n int) floe.Segment {
	t.Helper()
	length := position*uint64(p.SegmentPlaintextLen()) + uint64(n)
	if !final {
		length++
	}
	if final && n == 0 && position > 0 {
		// Only the layout of a ciphertext has empty segments behind others.
		l, err := p.CiphertextLayout(floe.HeaderSize + position*uint64(p.SegmentLen()) + floe.Overhead)
		if err != nil {
			t.Fatal(err)
		}
		return l.Final()
	}
	s, ok := layout(t, p, length).Segment(position)
	if !ok || s.IsFinal() != final || s.PlaintextLen() != uint32(n) {
		t.Fatalf("segment %d of %d bytes is %+v", position, length, s)
	}
	return s
}

func newSealer(t testing.TB, p floe.Params) *lowlevel.SharedSealer {
	t.Helper()
	s, err := lowlevel.NewSealer(newKey(t, testKey), nil, p, floe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newOpener(t testing.TB, h floe.Header) *lowlevel.SharedOpener {
	t.Helper()
	o, err := lowlevel.NewOpener(newKey(t, testKey), nil, h, floe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Segments that fast-floe 0.3.5 has sealed at positions up to 2^40 - 1.
func TestPositions(t *testing.T) {
	b, err := os.ReadFile("../testdata/vectors/fast-floe-0.3.5.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Positions struct {
			Key, AAD, Header hexBytes
			SegmentLen       uint32 `json:"segment_length"`
			Segments         []struct {
				Position           uint64
				Final              bool
				Plaintext, Segment hexBytes
			}
		}
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	v := all.Positions
	if len(v.Segments) != 10 {
		t.Fatalf("%d segments, want 10", len(v.Segments))
	}
	p, err := floe.NewParams(v.SegmentLen)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := lowlevel.NewOpener(newKey(t, v.Key), v.AAD, floe.Header(v.Header), floe.Options{Require: p})
	if err != nil || shared.Params() != p || shared.Header() != floe.Header(v.Header) {
		t.Fatalf("%v, %v", shared, err)
	}
	one := shared.Fork()
	for i, s := range v.Segments {
		seg := segmentAt(t, p, s.Position, s.Final, len(s.Plaintext))
		for _, o := range []*lowlevel.Opener{one, shared.Fork()} {
			if got, err := o.OpenSegment(nil, s.Segment, seg); err != nil || !bytes.Equal(got, s.Plaintext) {
				t.Errorf("position %d: %x, %v", s.Position, got, err)
			}
			if got, err := o.OpenInPlace(bytes.Clone(s.Segment), seg); err != nil || !bytes.Equal(got, s.Plaintext) {
				t.Errorf("position %d in place: %x, %v", s.Position, got, err)
			}
		}
		for j, other := range v.Segments {
			if seg := segmentAt(t, p, other.Position, other.Final, len(other.Plaintext)); i != j {
				if _, err := one.OpenSegment(nil, s.Segment, seg); err == nil {
					t.Errorf("position %d opens as %d", s.Position, other.Position)
				}
			}
		}
	}
}

// Segments sealed by several forks in any order are the message that one call
// makes.
func TestAnyOrder(t *testing.T) {
	p := floe.Params64B
	for _, n := range []int{0, 1, 32, 33, 64, 130, 1000} {
		plaintext := bytes.Repeat([]byte{byte(n), 7, 9}, n)[:n]
		shared := newSealer(t, p)
		l := layout(t, p, uint64(n))
		msg := make([]byte, l.CiphertextLen())
		h := shared.Header()
		copy(msg, h[:])
		a, b := shared.Fork(), shared.Fork()
		for s := range l.Backward() {
			a, b = b, a
			at := s.CiphertextOffset()
			got, err := a.SealSegment(msg[at:at], plaintext[s.PlaintextOffset():][:s.PlaintextLen()], s)
			if err != nil || len(got) != int(s.CiphertextLen()) {
				t.Fatalf("%d bytes, segment %d: %d, %v", n, s.Position(), len(got), err)
			}
		}
		if got, err := floe.Open(nil, newKey(t, testKey), nil, msg); err != nil || !bytes.Equal(got, plaintext) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
		o := newOpener(t, h)
		c, d := o.Fork(), o.Fork()
		for s := range l.Backward() {
			c, d = d, c
			want := plaintext[s.PlaintextOffset():][:s.PlaintextLen()]
			got, err := c.OpenSegment([]byte("dst"), msg[s.CiphertextOffset():][:s.CiphertextLen()], s)
			if err != nil || !bytes.Equal(got, append([]byte("dst"), want...)) {
				t.Errorf("%d bytes, segment %d: %x, %v", n, s.Position(), got, err)
			}
		}
	}
}

func TestInPlace(t *testing.T) {
	p := floe.Params64B
	for _, n := range []int{0, 1, 32} {
		for _, more := range []int{0, 1, 100} {
			shared := newSealer(t, p)
			s := shared.Fork()
			seg := segmentAt(t, p, 0, true, n)
			buf := bytes.Repeat([]byte{7}, n+floe.Overhead+more)
			sealed, err := s.SealInPlace(buf, seg)
			if err != nil || len(sealed) != n+floe.Overhead || &sealed[0] != &buf[0] || !bytes.Equal(buf[len(sealed):], bytes.Repeat([]byte{7}, more)) {
				t.Fatalf("%d bytes: %x, %v", n, sealed, err)
			}
			want := bytes.Repeat([]byte{7}, n)
			o := newOpener(t, shared.Header()).Fork()
			if got, err := o.OpenSegment(nil, sealed, seg); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes: %x, %v", n, got, err)
			}
			got, err := o.OpenInPlace(buf, seg)
			if err != nil || !bytes.Equal(got, want) || n > 0 && &got[0] != &buf[floe.PayloadOffset] {
				t.Errorf("%d bytes: %x, %v", n, got, err)
			}
			// Append style, in place too.
			if sealed, err = s.SealSegment(buf[:0], buf[floe.PayloadOffset:][:n], seg); err != nil || &sealed[0] != &buf[0] {
				t.Fatal(err)
			}
			if got, err := o.OpenSegment(sealed[floe.PayloadOffset:floe.PayloadOffset], sealed, seg); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes: %x, %v", n, got, err)
			}
		}
	}
}

// is fails unless err is a LengthError with these figures.
func is(t *testing.T, what string, err, kind error, actual, low, high uint64) {
	t.Helper()
	var l *floe.LengthError
	if !errors.As(err, &l) || *l != (floe.LengthError{Kind: kind, Actual: actual, Min: low, Max: high}) {
		t.Errorf("%s: got %v (%+v), want %v, %d, %d to %d", what, err, l, kind, actual, low, high)
	}
}

func TestRefused(t *testing.T) {
	p := floe.Params64B
	shared := newSealer(t, p)
	s, o := shared.Fork(), newOpener(t, shared.Header()).Fork()
	first, last := segmentAt(t, p, 0, false, 32), segmentAt(t, p, 1, true, 8)
	other := segmentAt(t, floe.Params4KiB, 0, true, 32)
	plain := make([]byte, 32)

	_, err := s.SealSegment(nil, plain[:31], first)
	is(t, "a short plaintext", err, floe.ErrPlaintextLength, 31, 32, 32)
	_, err = s.SealSegment(nil, plain, last)
	is(t, "a long plaintext", err, floe.ErrPlaintextLength, 32, 8, 8)
	_, err = s.SealInPlace(make([]byte, 63), first)
	is(t, "a short buffer", err, floe.ErrOutputLength, 63, 64, math.MaxUint64)
	for _, seg := range []floe.Segment{other, {}} {
		if _, err := s.SealSegment(nil, plain, seg); err != floe.ErrParamsMismatch {
			t.Errorf("sealing for %+v: %v", seg, err)
		}
		if _, err := s.SealInPlace(make([]byte, 100), seg); err != floe.ErrParamsMismatch {
			t.Errorf("sealing for %+v: %v", seg, err)
		}
		if _, err := o.OpenSegment(nil, make([]byte, seg.CiphertextLen()), seg); err != floe.ErrParamsMismatch {
			t.Errorf("opening for %+v: %v", seg, err)
		}
		if _, err := o.OpenInPlace(make([]byte, 100), seg); err != floe.ErrParamsMismatch {
			t.Errorf("opening for %+v: %v", seg, err)
		}
	}

	a, err := s.SealSegment(nil, plain, first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.SealSegment(nil, plain[:8], last)
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.OpenSegment(nil, a[:63], first)
	is(t, "a short segment", err, floe.ErrCiphertextLength, 63, 64, 64)
	_, err = o.OpenSegment(nil, append(b, 0), last)
	is(t, "a long segment", err, floe.ErrCiphertextLength, 41, 40, 40)
	_, err = o.OpenInPlace(bytes.Clone(a[:63]), first)
	is(t, "a short buffer", err, floe.ErrCiphertextLength, 63, 64, math.MaxUint64)
	_, err = o.OpenSegment(nil, a, segmentAt(t, p, 0, true, 32))
	is(t, "one that others follow as the final one", err, floe.ErrCiphertextLength, 64, math.MaxUint32, math.MaxUint32)
	_, err = o.OpenSegment(nil, append(slices.Clip(b[:3]), 41), segmentAt(t, p, 1, true, 8))
	is(t, "too short", err, floe.ErrCiphertextLength, 4, 40, 40)
	final, err := s.SealSegment(nil, plain, segmentAt(t, p, 0, true, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.OpenSegment(nil, final, first); err != floe.ErrSegmentPrefix {
		t.Errorf("the final one as one that others follow: %v", err)
	}
	// Neither dst nor what lies behind it has a byte of a refused segment.
	for bit := range 8 * len(a) {
		bad := bytes.Clone(a)
		bad[bit/8] ^= 1 << (bit % 8)
		dst := append(make([]byte, 0, 100), "dst"...)
		got, err := o.OpenSegment(dst, bad, first)
		if bit < 32 && err != floe.ErrSegmentPrefix || bit >= 32 && err != floe.ErrAuthentication {
			t.Errorf("bit %d: %v", bit, err)
		}
		if string(got) != "dst" || !bytes.Equal(dst[3:100], make([]byte, 97)) {
			t.Errorf("bit %d: left %x", bit, dst[:100])
		}
		if got, err := o.OpenInPlace(bad, first); err == nil || got != nil {
			t.Errorf("bit %d in place: %x, %v", bit, got, err)
		}
		if bit >= 32 && !bytes.Equal(bad[floe.PayloadOffset:48], make([]byte, 32)) {
			t.Errorf("bit %d in place: left %x", bit, bad)
		}
	}
	// Overlap elsewhere than in place.
	buf := make([]byte, 200)
	for off := range 100 {
		_, err := s.SealSegment(buf[40:40], buf[off:off+32], first)
		if want := off+32 > 40 && off < 40+64 && off != 40+floe.PayloadOffset; (err == floe.ErrOverlap) != want {
			t.Errorf("plaintext at %d, segment at 40: %v", off, err)
		}
		copy(buf[100:], a)
		_, err = o.OpenSegment(buf[off+50:off+50], buf[100:164], first)
		at := off + 50
		if want := at+32 > 100 && at < 164 && at != 100+floe.PayloadOffset; (err == floe.ErrOverlap) != want {
			t.Errorf("plaintext at %d, segment at 100: %v", at, err)
		}
	}

	key := newKey(t, testKey)
	if _, err := lowlevel.NewSealer(key, nil, floe.Params{}, floe.Options{}); err != floe.ErrParamsMismatch {
		t.Error(err)
	}
	if _, err := lowlevel.NewSealer(nil, nil, p, floe.Options{}); !errors.Is(err, floe.ErrKeyLength) {
		t.Error(err)
	}
	if _, err := lowlevel.NewSealer(key, nil, p, floe.Options{Rand: bytes.NewReader(nil)}); !errors.Is(err, floe.ErrRandomness) {
		t.Error(err)
	}
	h := shared.Header()
	if _, err := lowlevel.NewOpener(nil, nil, h, floe.Options{}); !errors.Is(err, floe.ErrKeyLength) {
		t.Error(err)
	}
	if _, err := lowlevel.NewOpener(key, []byte{1}, h, floe.Options{}); err != floe.ErrHeaderTag {
		t.Error(err)
	}
	if _, err := lowlevel.NewOpener(key, nil, h, floe.Options{Require: floe.Params4KiB}); err != floe.ErrHeaderParams {
		t.Error(err)
	}
	h[0] = 1
	if _, err := lowlevel.NewOpener(key, nil, h, floe.Options{}); err != floe.ErrHeaderParams {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	p := floe.Params64B
	shared := newSealer(t, p)
	seg := segmentAt(t, p, 0, true, 0)
	s := shared.Fork()
	a, err := s.SealSegment(nil, nil, seg)
	if err != nil {
		t.Fatal(err)
	}
	opener := newOpener(t, shared.Header())
	o := opener.Fork()
	if _, err := o.OpenSegment(nil, a, seg); err != nil {
		t.Fatal(err)
	}
	shared.Close()
	opener.Close()
	if _, err := s.SealSegment(nil, nil, seg); err != floe.ErrClosed {
		t.Errorf("sealing: %v", err)
	}
	if _, err := shared.Fork().SealInPlace(make([]byte, 32), seg); err != floe.ErrClosed {
		t.Errorf("sealing: %v", err)
	}
	if _, err := o.OpenSegment(nil, a, seg); err != floe.ErrClosed {
		t.Errorf("opening: %v", err)
	}
	if shared.Params() != p || opener.Params() != p {
		t.Error("other parameters")
	}
}

func TestSegmentBuffer(t *testing.T) {
	p := floe.Params64B
	b := lowlevel.NewSegmentBuffer(p)
	shared := newSealer(t, p)
	s, o := shared.Fork(), newOpener(t, shared.Header()).Fork()
	first, last := segmentAt(t, p, 0, false, 32), segmentAt(t, p, 1, true, 8)

	state := func(want string) {
		t.Helper()
		if got := fmt.Sprintf("%v %s %x", b, b, b); got != want+" "+want+" "+want {
			t.Errorf("got %s, want %s", got, want)
		}
		_, notPlain := b.Plaintext()
		_, notCipher := b.Ciphertext()
		switch want[:len("SegmentBuffer{p")] {
		case "SegmentBuffer{p":
			if notPlain != nil || notCipher != floe.ErrBufferState {
				t.Errorf("%s: %v, %v", want, notPlain, notCipher)
			}
		case "SegmentBuffer{c":
			if notPlain != floe.ErrBufferState || notCipher != nil {
				t.Errorf("%s: %v, %v", want, notPlain, notCipher)
			}
		default:
			if notPlain != floe.ErrBufferState || notCipher != floe.ErrBufferState {
				t.Errorf("%s: %v, %v", want, notPlain, notCipher)
			}
		}
	}
	state("SegmentBuffer{empty, 0 bytes}")
	if err := s.SealBuffer(b, first); err != floe.ErrBufferState {
		t.Errorf("sealing nothing: %v", err)
	}
	if err := o.OpenBuffer(b, first); err != floe.ErrBufferState {
		t.Errorf("opening nothing: %v", err)
	}
	plain, err := b.PreparePlaintext(32)
	if err != nil || len(plain) != 32 {
		t.Fatal(plain, err)
	}
	copy(plain, "a plaintext of thirty-two bytes.")
	state("SegmentBuffer{plaintext, 32 bytes}")

	// What is refused keeps the content.
	_, err = b.PreparePlaintext(33)
	is(t, "too long", err, floe.ErrPlaintextLength, 33, 0, 32)
	_, err = b.PreparePlaintext(-1)
	is(t, "negative", err, floe.ErrPlaintextLength, 0, 0, 32)
	_, err = b.PrepareCiphertext(31)
	is(t, "too short", err, floe.ErrCiphertextLength, 31, 32, 64)
	_, err = b.PrepareCiphertext(65)
	is(t, "too long", err, floe.ErrCiphertextLength, 65, 32, 64)
	is(t, "another segment's", s.SealBuffer(b, last), floe.ErrPlaintextLength, 32, 8, 8)
	for _, seg := range []floe.Segment{segmentAt(t, floe.Params4KiB, 0, true, 32), {}} {
		if err := s.SealBuffer(b, seg); err != floe.ErrParamsMismatch {
			t.Errorf("another layout's: %v", err)
		}
	}
	if err := newSealer(t, floe.Params4KiB).Fork().SealBuffer(b, first); err != floe.ErrParamsMismatch {
		t.Errorf("another message's: %v", err)
	}
	state("SegmentBuffer{plaintext, 32 bytes}")
	if string(plain) != "a plaintext of thirty-two bytes." {
		t.Errorf("now %q", plain)
	}

	if err := s.SealBuffer(b, first); err != nil {
		t.Fatal(err)
	}
	state("SegmentBuffer{ciphertext, 32 bytes}")
	sealed, err := b.Ciphertext()
	if err != nil {
		t.Fatal(err)
	}
	sealed = bytes.Clone(sealed)
	if err := s.SealBuffer(b, first); err != floe.ErrBufferState {
		t.Errorf("sealing a segment: %v", err)
	}
	if err := o.OpenBuffer(b, first); err != nil {
		t.Fatal(err)
	}
	state("SegmentBuffer{plaintext, 32 bytes}")
	if plain, err = b.Plaintext(); err != nil || string(plain) != "a plaintext of thirty-two bytes." {
		t.Errorf("%q, %v", plain, err)
	}

	// Every failed open wipes, that of a plaintext too.
	wiped := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		state("SegmentBuffer{empty, 0 bytes}")
		if !bytes.Equal(plain, make([]byte, 32)) {
			t.Errorf("%s: left %q", what, plain)
		}
	}
	wiped("opening a plaintext", o.OpenBuffer(b, first), floe.ErrBufferState)
	load := func(c []byte) {
		t.Helper()
		to, err := b.PrepareCiphertext(len(c))
		if err != nil || !bytes.Equal(to, make([]byte, len(c))) {
			t.Fatalf("prepared %x, %v", to, err)
		}
		copy(to, c)
	}
	load(sealed)
	wiped("another place", o.OpenBuffer(b, segmentAt(t, p, 1, false, 32)), floe.ErrAuthentication)
	load(sealed)
	wiped("another length", o.OpenBuffer(b, last), floe.ErrCiphertextLength)
	load(sealed)
	wiped("another layout", o.OpenBuffer(b, floe.Segment{}), floe.ErrParamsMismatch)
	load(sealed)
	wiped("another message", newOpener(t, newSealer(t, floe.Params4KiB).Header()).Fork().OpenBuffer(b, first), floe.ErrParamsMismatch)
	load(sealed)
	if err := o.OpenBuffer(b, first); err != nil {
		t.Error(err)
	}
	b.Clear()
	wiped("cleared", nil, nil)

	// A seal that fails after all checks wipes too.
	if plain, err = b.PreparePlaintext(32); err != nil {
		t.Fatal(err)
	}
	copy(plain, "a plaintext of thirty-two bytes.")
	shared.Close()
	wiped("sealing", s.SealBuffer(b, first), floe.ErrClosed)
}

// Nonces never repeat, by however many forks: a million segments of eight.
func TestNonces(t *testing.T) {
	n := 125_000
	if testing.Short() {
		n = 2_000
	}
	p := floe.Params64B
	shared := newSealer(t, p)
	nonces := make([][12]byte, 8*n)
	l := layout(t, p, uint64(len(nonces))*32)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := shared.Fork()
			buf := make([]byte, 64)
			for j := range n {
				at := i*n + j
				seg, _ := l.Segment(uint64(at))
				sealed, err := s.SealInPlace(buf, seg)
				if err != nil {
					t.Error(err)
					return
				}
				nonces[at] = [12]byte(sealed[4:])
			}
		})
	}
	wg.Wait()
	slices.SortFunc(nonces, func(a, b [12]byte) int { return bytes.Compare(a[:], b[:]) })
	if got := len(slices.Compact(nonces)); got != 8*n {
		t.Errorf("%d segments have %d nonces", 8*n, got)
	}
}

// Forks of one message work at the same time, across a change of the segment
// key.
func TestConcurrentForks(t *testing.T) {
	p := floe.Params64B
	const first = 1<<20 - 100
	shared := newSealer(t, p)
	opener := newOpener(t, shared.Header())
	l := layout(t, p, (first+200)*32)
	var wg sync.WaitGroup
	for i := range uint64(8) {
		wg.Go(func() {
			s, o := shared.Fork(), opener.Fork()
			for at := first + i; at < first+200; at += 8 {
				seg, _ := l.Segment(at)
				plain := bytes.Repeat([]byte{byte(at)}, 32)
				sealed, err := s.SealSegment(nil, plain, seg)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := o.OpenSegment(nil, sealed, seg); err != nil || !bytes.Equal(got, plain) {
					t.Errorf("segment %d: %x, %v", at, got, err)
				}
			}
		})
	}
	wg.Wait()
}
