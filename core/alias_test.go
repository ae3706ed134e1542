package cachekit_test

import (
	"bytes"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

func TestOverlap(t *testing.T) {
	b := make([]byte, 10)
	for _, v := range []struct {
		x, y []byte
		want bool
	}{
		{b, b, true},
		{b[:5], b[5:], false},
		{b[:5], b[4:], true},
		{b[4:], b[:5], true},
		{b[2:4], b, true},
		{b[3:3], b, false},
		{nil, b, false},
		{b, make([]byte, 10), false},
	} {
		if got := cachekit.Overlap(v.x, v.y); got != v.want {
			t.Errorf("%d and %d bytes: got %v, want %v", len(v.x), len(v.y), got, v.want)
		}
	}
}

// inPlace puts input at an offset into a buffer and calls f with a dst at
// another, so that the spare capacity of dst overlaps the input in every way.
func inPlace(t *testing.T, name string, input []byte, room int, f func(dst, input []byte) ([]byte, error), ok func(out []byte) bool) {
	t.Helper()
	for at := 0; at <= 40; at += 4 {
		for dstLen := 0; dstLen <= 44; dstLen += 4 {
			buf := bytes.Repeat([]byte{0xee}, at+len(input)+room+64)
			copy(buf[at:], input)
			head := bytes.Clone(buf[:dstLen])
			out, err := f(buf[:dstLen], buf[at:at+len(input)])
			if err != nil || !bytes.HasPrefix(out, head) || !ok(out[dstLen:]) {
				t.Fatalf("%s: input at %d, dst of %d: %d bytes, %v", name, at, dstLen, len(out), err)
			}
		}
	}
}

func TestStoreInPlace(t *testing.T) {
	for _, n := range []int{0, 1, 20, 63, 64, 300, 1000} {
		payload := corpus(t, "records", n)
		want, err := cachekit.Store(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		inPlace(t, "Store", payload, 2*n, cachekit.Store, func(out []byte) bool { return bytes.Equal(out, want) })
	}
}

func TestRetrieveInPlace(t *testing.T) {
	for _, format := range []string{"msgpack", "json"} {
		for _, n := range []int{0, 1, 20, 63, 64, 300, 1000} {
			payload := corpus(t, "records", n)
			env, err := cachekit.StoreFormat(nil, payload, format)
			if err != nil {
				t.Fatal(err)
			}
			inPlace(t, "Retrieve", env, 2*n, func(dst, env []byte) ([]byte, error) {
				out, f, err := cachekit.Retrieve(dst, env)
				if f != format {
					t.Errorf("label %q, want %q", f, format)
				}
				return out, err
			}, func(out []byte) bool { return bytes.Equal(out, payload) })
		}
	}
}

func TestEncryptorInPlace(t *testing.T) {
	e := newEncryptor(t, secret)
	ring, err := cachekit.NewKeyring(secret[:20], secret)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := ring.ForTenant("t")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 15, 16, 100, 1000} {
		plain := corpus(t, "xorshift", n)
		aad := []byte("some additional data")
		inPlace(t, "Seal", plain, 2*n, func(dst, in []byte) ([]byte, error) { return e.Seal(dst, in, aad) }, func(out []byte) bool {
			pt, err := e.Open(nil, out, aad)
			return err == nil && bytes.Equal(pt, plain)
		})
		inPlace(t, "Seal, additional data", plain, 2*n, func(dst, in []byte) ([]byte, error) { return e.Seal(dst, plain, in) }, func(out []byte) bool {
			pt, err := e.Open(nil, out, plain)
			return err == nil && bytes.Equal(pt, plain)
		})
		ct, err := e.Seal(nil, plain, aad)
		if err != nil {
			t.Fatal(err)
		}
		same := func(out []byte) bool { return bytes.Equal(out, plain) }
		inPlace(t, "Open", ct, 2*n, func(dst, in []byte) ([]byte, error) { return e.Open(dst, in, aad) }, same)
		inPlace(t, "Open, additional data", aad, 2*n, func(dst, in []byte) ([]byte, error) { return e.Open(dst, ct, in) }, same)

		// A ring whose first key fails must leave the input for the second.
		key, err := cachekit.DeriveDomainKey(secret, cachekit.DomainEncryption, []byte("t"))
		if err != nil {
			t.Fatal(err)
		}
		ct, err = newEncryptor(t, key[:]).Seal(nil, plain, aad)
		if err != nil {
			t.Fatal(err)
		}
		inPlace(t, "Decrypt", ct, 2*n, func(dst, in []byte) ([]byte, error) { return bound.Decrypt(dst, in, aad) }, same)
	}
}

// The spare capacity of dst holds no plaintext when Open fails.
func TestOpenLeavesNothing(t *testing.T) {
	e := newEncryptor(t, secret)
	plain := bytes.Repeat([]byte("plain"), 100)
	ct, err := e.Seal(nil, plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	ct[len(ct)-1] ^= 1
	dst := make([]byte, 3, 1000)
	if out, err := e.Open(dst, ct, nil); err == nil || len(out) != 3 {
		t.Fatalf("got %d bytes, %v", len(out), err)
	}
	if bytes.Contains(dst[:cap(dst)], plain[:16]) {
		t.Error("plaintext is left behind")
	}
}
