package floe_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
)

// Every bit of a message of three segments, the last one not full, is refused
// for the reason that spec section 8.6 gives.
func TestEveryBit(t *testing.T) {
	key := newKey(t, testKey)
	msg := seal(t, floe.Params64B, ruled(1, 80))
	whole := func(kind string) *answer { return &answer{Error: kind} }
	read := func(kind string, released int) *answer { return &answer{Error: kind, Released: &released} }
	segments := func(n int) *answer { return &answer{OK: &n} }
	for bit := range 8 * len(msg) {
		bad := bytes.Clone(msg)
		bad[bit/8] ^= 1 << (bit % 8)
		var want outcome
		if at := bit / 8; at < floe.HeaderSize {
			kind := "header_tag"
			if n := binary.BigEndian.Uint32(bad[2:]); at < 2 || at >= 6 && at < 10 || n < floe.MinSegmentLen {
				kind = "header_parameters"
			}
			want = outcome{OneShot: whole(kind), Open: whole(kind), RandomOpen: whole(kind)}
		} else {
			segment, within := (at-floe.HeaderSize)/64, (at-floe.HeaderSize)%64
			kind, stream := "authentication", "authentication"
			if within < 4 {
				kind, stream = "ciphertext_length", "ciphertext_length"
				// A shorter final segment is read, and is not genuine.
				if n := binary.BigEndian.Uint32(bad[floe.HeaderSize+64*segment:]); segment == 2 && n >= 32 && n < 48 {
					stream = "authentication"
				}
			}
			want = outcome{
				OneShot: whole(kind), Read: read(stream, 32*segment), ThenFinish: whole("poisoned"),
				Finish: whole(stream), Frame: whole(stream), RandomOpen: whole(kind),
			}
			if segment < 2 {
				want.RandomOpen, want.RandomRead = segments(80), whole(kind)
				if within < 4 {
					want.RandomRead = whole("segment_prefix")
				}
			}
		}
		judge(t, fmt.Sprintf("bit %d of byte %d", bit%8, bit/8), key, testAAD, bad, want)
	}
}

// Segments around a broken one can still be read, and each read of the broken
// one fails, though what was decrypted last is kept.
func TestReadAroundDamage(t *testing.T) {
	key := newKey(t, testKey)
	plaintext := ruled(2, 5*32)
	msg := seal(t, floe.Params64B, plaintext)
	for broken := range 4 {
		bad := bytes.Clone(msg)
		bad[floe.HeaderSize+64*broken+20] ^= 1
		a, err := floe.NewReaderAt(bytes.NewReader(bad), int64(len(bad)), key, testAAD)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for i := range 5 {
				got, err := a.ReadSegment([]byte("dst"), uint64(i))
				if i == broken {
					if err != floe.ErrAuthentication || string(got) != "dst" {
						t.Errorf("segment %d of broken %d: %q, %v", i, broken, got, err)
					}
				} else if err != nil || !bytes.Equal(got[3:], plaintext[32*i:][:32]) {
					t.Errorf("segment %d of broken %d: %x, %v", i, broken, got, err)
				}
			}
		}
		// What comes before is given, and nothing of the broken one.
		for _, off := range []int{0, 5} {
			p := bytes.Repeat([]byte{1}, len(plaintext)-off)
			n, err := a.ReadAt(p, int64(off))
			if want := max(0, 32*broken-off); err != floe.ErrAuthentication || n != want || !bytes.Equal(p[:n], plaintext[off:off+n]) {
				t.Errorf("from %d with segment %d broken: %d, %v, want %d", off, broken, n, err, want)
			}
			if len(bytes.Trim(p[n:], "\x00\x01")) > 0 {
				t.Errorf("from %d with segment %d broken: left %x", off, broken, p[n:])
			}
		}
	}
}

// A source that gets shorter after a reader was made: what is there is read,
// and the rest is an error that says how much is missing.
func TestSourceShrinks(t *testing.T) {
	key := newKey(t, testKey)
	plaintext := ruled(3, 80)
	msg := seal(t, floe.Params64B, plaintext)
	for n := range msg {
		source := &shrinking{msg}
		a, err := floe.NewReaderAt(source, int64(len(msg)), key, testAAD)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.ReadSegment(nil, 0); err != nil { // now the last one is not kept
			t.Fatal(err)
		}
		source.b = msg[:n]
		// Read the second segment first: it displaces the first.
		for _, i := range []int{1, 0, 2} {
			s, _ := a.Layout().Segment(uint64(i))
			got, err := a.ReadSegment(nil, uint64(i))
			if there := max(0, n-int(s.CiphertextOffset())); there >= int(s.CiphertextLen()) {
				if err != nil || !bytes.Equal(got, plaintext[32*i:][:s.PlaintextLen()]) {
					t.Errorf("%d bytes left: segment %d: %x, %v", n, i, got, err)
				}
			} else if l, ok := errors.AsType[*floe.LengthError](err); err != nil && (!ok || *l != floe.LengthError{Kind: floe.ErrCiphertextLength, Actual: uint64(there), Min: uint64(s.CiphertextLen()), Max: uint64(s.CiphertextLen())}) {
				t.Errorf("%d bytes left: segment %d: %v", n, i, err)
			}
		}
		source.b = msg
		if got, err := a.ReadSegment(nil, 1); err != nil || !bytes.Equal(got, plaintext[32:64]) {
			t.Errorf("there again: %x, %v", got, err)
		}
	}
	for n := range msg {
		if _, err := floe.NewReaderAt(bytes.NewReader(msg[:n]), int64(len(msg)), key, testAAD); err == nil {
			t.Errorf("a source of %d bytes passes for one of %d", n, len(msg))
		}
		// A longer source does not matter, a size that is not the message's does.
		if _, err := floe.NewReaderAt(bytes.NewReader(msg), int64(n), key, testAAD); err == nil {
			t.Errorf("%d bytes pass for the whole message", n)
		}
	}
	if _, err := floe.NewReaderAt(bytes.NewReader(append(msg, 1, 2, 3)), int64(len(msg)), key, testAAD); err != nil {
		t.Errorf("in a longer source: %v", err)
	}
	if _, err := floe.NewReaderAt(bytes.NewReader(msg), -1, key, testAAD); err != floe.ErrRange {
		t.Errorf("a negative size: %v", err)
	}
}

// A shrinking source gives what it has now.
type shrinking struct{ b []byte }

func (s *shrinking) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(s.b).ReadAt(p, off)
}
