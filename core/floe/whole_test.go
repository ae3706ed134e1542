package floe_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
)

// The result goes behind dst, in its room if there is some, and nothing behind
// the result is touched.
func TestAppends(t *testing.T) {
	key := newKey(t, testKey)
	for _, n := range lengths(floe.Params64B) {
		plaintext := ruled(1, n)
		size, err := floe.SealedLen(floe.Params64B, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{0, size - 1, size, size + 10} {
			dst := append(make([]byte, 0, 3+room), "dst"...)
			for i := range dst[:cap(dst)] {
				if i >= 3 {
					dst[:cap(dst)][i] = 0xee
				}
			}
			msg, err := floe.Seal(dst, key, testAAD, floe.Params64B, plaintext)
			if err != nil || len(msg) != 3+size || string(msg[:3]) != "dst" || (&msg[0] == &dst[0]) != (room >= size) {
				t.Fatalf("%d bytes into %d: %d, %v", n, room, len(msg), err)
			}
			if room > size && !bytes.Equal(dst[:cap(dst)][3+size:], bytes.Repeat([]byte{0xee}, room-size)) {
				t.Errorf("%d bytes into %d: written behind", n, room)
			}
			back := append(make([]byte, 0, 3+room), "dst"...)
			got, err := floe.Open(back, key, testAAD, msg[3:])
			if err != nil || !bytes.Equal(got, append([]byte("dst"), plaintext...)) || (&got[0] == &back[0]) != (room >= n) {
				t.Errorf("%d bytes: got %d, %v", n, len(got), err)
			}
		}
	}
}

func TestOverlap(t *testing.T) {
	key := newKey(t, testKey)
	const n, size = 100, 74 + 100 + 4*32
	buf := make([]byte, 1000)
	for off := 0; off < 900; off += 7 {
		copy(buf, ruled(1, len(buf)))
		want := off+n > 400 && off < 400+size
		if got, err := floe.Seal(buf[400:400], key, nil, floe.Params64B, buf[off:off+n]); (err == floe.ErrOverlap) != want || want && len(got) != 0 {
			t.Errorf("plaintext at %d: %v", off, err)
		}
		if _, err := floe.Seal(buf[400:400], key, buf[off:off+n], floe.Params64B, make([]byte, n)); (err == floe.ErrOverlap) != want {
			t.Errorf("additional data at %d: %v", off, err)
		}
		msg := seal(t, floe.Params64B, ruled(1, n))
		if off+size > len(buf) {
			continue
		}
		copy(buf[off:], msg)
		want = off+size > 400 && off < 400+n
		if got, err := floe.Open(buf[400:400], key, testAAD, buf[off:off+size]); (err == floe.ErrOverlap) != want || err != nil && len(got) != 0 {
			t.Errorf("message at %d: %v", off, err)
		}
		if want && !bytes.Equal(buf[off:off+size], msg) {
			t.Errorf("message at %d: changed", off)
		}
	}
	// Without room there is a new slice, and nothing to overlap.
	if _, err := floe.Seal(buf[:0:0], key, nil, floe.Params64B, buf); err != nil {
		t.Error(err)
	}
}

// Two messages of the same plaintext have nothing in common but parameters.
func TestSealIsRandom(t *testing.T) {
	key := newKey(t, testKey)
	seen := map[[32]byte]bool{}
	nonces := map[[12]byte]bool{}
	for range 50 {
		msg, err := floe.Seal(nil, key, nil, floe.Params64B, make([]byte, 300))
		if err != nil {
			t.Fatal(err)
		}
		seen[[32]byte(msg[10:])] = true
		for at := floe.HeaderSize; at < len(msg); at += 64 {
			nonces[[12]byte(msg[at+4:])] = true
		}
	}
	if len(seen) != 50 || len(nonces) != 50*10 {
		t.Errorf("%d IVs and %d nonces", len(seen), len(nonces))
	}
}

func TestAAD(t *testing.T) {
	key := newKey(t, testKey)
	sizes := []int{0, 1, 42, 43, 127, 128, 129, 65_536}
	if !testing.Short() && !raceEnabled {
		sizes = append(sizes, 64<<20)
	}
	for _, n := range sizes {
		aad := ruled(5, n)
		msg, err := floe.Seal(nil, key, aad, floe.Params64B, []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := floe.Open(nil, key, aad, msg); err != nil || string(got) != "text" {
			t.Errorf("%d bytes: %q, %v", n, got, err)
		}
		if n > 1<<20 {
			continue // each call hashes it three times
		}
		if _, err := floe.Open(nil, key, append(aad, 0), msg); err != floe.ErrHeaderTag {
			t.Errorf("%d bytes and one more: %v", n, err)
		}
		if n > 0 {
			aad[n-1] ^= 1
			if _, err := floe.Open(nil, key, aad, msg); err != floe.ErrHeaderTag {
				t.Errorf("%d bytes, another last: %v", n, err)
			}
		}
	}
	// Streams and readers copy it.
	aad := []byte("abc")
	e, err := floe.NewEncryptor(key, aad, floe.Params64B)
	if err != nil {
		t.Fatal(err)
	}
	aad[0] = 'x' // before the segment key is derived
	h := e.Header()
	msg, err := e.AppendFinal(h[:], []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := floe.Open(nil, key, []byte("abc"), msg); err != nil || string(got) != "text" {
		t.Errorf("got %q, %v", got, err)
	}
}

// Keys change within a message; only vectors do it this often.
func TestRotation(t *testing.T) {
	key := newKey(t, testKey)
	for _, bits := range []uint8{1, 2, 5} {
		p := floe.UncheckedParams(40, bits)
		for _, n := range []int{0, 8, 15, 16, 17, 8 * 31, 8 * 32, 8 * 33, 8*100 + 3} {
			plaintext := ruled(6, n)
			for _, workers := range []int{1, 3} {
				o := floe.Options{Workers: workers, Require: p}
				msg, err := o.Seal(nil, key, testAAD, p, plaintext)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := o.Open(nil, key, testAAD, msg); err != nil || !bytes.Equal(got, plaintext) {
					t.Errorf("%d bits, %d bytes: %d, %v", bits, n, len(got), err)
				}
				// With the usual rotation it is one message only while the
				// first key lasts.
				usual := floe.UncheckedParams(40, 0)
				if _, err := floe.OpenWithParams(nil, key, testAAD, usual, msg); (err == nil) != (n <= 8<<bits) {
					t.Errorf("%d bits, %d bytes without rotation: %v", bits, n, err)
				}
			}
		}
	}
}

// Of several broken segments the first is reported, whichever was met first.
func TestFirstErrorWins(t *testing.T) {
	key := newKey(t, testKey)
	msg := seal(t, floe.Params64B, ruled(7, 32*200))
	bad := bytes.Clone(msg)
	for at := floe.HeaderSize + 64*100; at < len(bad); at += 64 {
		bad[at+20] ^= 1
	}
	bad[floe.HeaderSize+64*50] = 0 // no prefix of any segment
	for range 20 {
		if _, err := floe.OpenParallel(nil, key, testAAD, bad, 4); !errors.Is(err, floe.ErrCiphertextLength) {
			t.Fatal(err)
		}
	}
	bad[floe.HeaderSize+64*49+20] ^= 1
	for range 20 {
		if _, err := floe.OpenParallel(nil, key, testAAD, bad, 4); err != floe.ErrAuthentication {
			t.Fatal(err)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	key := newKey(t, testKey)
	msg := seal(t, floe.Params64B, ruled(8, 40))
	_, short := floe.NewKey(nil)
	_, length := floe.NewParams(1)
	_, header := floe.Open(nil, key, nil, msg[:3])
	_, cut := floe.Open(nil, key, testAAD, msg[:100])
	_, more := floe.Open(nil, key, testAAD, append(msg, 0))
	e, err := floe.NewEncryptor(key, nil, floe.Params64B)
	if err != nil {
		t.Fatal(err)
	}
	_, long := e.AppendFinal(nil, make([]byte, 33))
	for err, want := range map[error]string{
		short:  "floe: key length: got 0 bytes, want exactly 32",
		length: "floe: segment length: got 1 bytes, want between 64 and 4294967294",
		header: "floe: header length: got 3 bytes, want exactly 74",
		cut:    "floe: ciphertext length: got 26 bytes, want at least 64",
		more:   "floe: ciphertext length: got 41 bytes, want exactly 40",
		long:   "floe: plaintext length: got 33 bytes, want at most 32",
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
