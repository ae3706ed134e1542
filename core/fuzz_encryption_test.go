package cachekit_test

import (
	"bytes"
	"errors"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// The fuzz targets of spec section 10 on ciphertexts; each names its row.

// refused fails unless err says that a ciphertext is not authentic, or is too
// short to be one.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, cachekit.ErrAuthenticationFailed) && !errors.Is(err, cachekit.ErrInvalidCiphertext) {
		t.Fatalf("%s: %v", what, err)
	}
}

// flip returns b with one bit flipped.
func flip(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8%len(b)] ^= 1 << (bit % 8)
	return b
}

// seal seals, and opens what it sealed.
func seal(t *testing.T, e *cachekit.Encryptor, plain, aad []byte) []byte {
	t.Helper()
	ct, err := e.Seal(nil, plain, aad)
	if err != nil {
		t.Fatal(err)
	}
	if pt, err := open(t, e, ct, aad); err != nil || !bytes.Equal(pt, plain) {
		t.Fatalf("opening: %d bytes of %d, %v", len(pt), len(plain), err)
	}
	return ct
}

// FuzzEncryptionRoundtrip is encryption_roundtrip, with any key.
func FuzzEncryptionRoundtrip(f *testing.F) {
	f.Add([]byte("plain"), []byte("aad"), []byte("0123456789abcdef0123456789abcdef"), uint16(3))
	f.Add([]byte(nil), []byte(nil), make([]byte, 32), uint16(0))
	f.Add([]byte(nil), []byte(nil), make([]byte, 31), uint16(0))
	f.Fuzz(func(t *testing.T, plain, aad, key []byte, bit uint16) {
		e, err := cachekit.NewEncryptor(key)
		if len(key) != cachekit.KeySize {
			if !errors.Is(err, cachekit.ErrInvalidKeyLength) {
				t.Fatal(err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		ct := seal(t, e, plain, aad)
		_, err = open(t, e, ct, append(bytes.Clone(aad), 0))
		refused(t, "longer additional data", err)
		_, err = open(t, e, flip(ct, 0), aad)
		refused(t, "first byte", err)
		_, err = open(t, e, flip(ct, int(bit)), aad)
		refused(t, "any bit", err)
		_, err = open(t, newEncryptor(t, flip(key, int(bit))), ct, aad)
		refused(t, "another key", err)
	})
}

// FuzzNonceReuse is encryption_nonce_reuse: no two ciphertexts are equal, nor
// their nonces.
func FuzzNonceReuse(f *testing.F) {
	f.Add([]byte(nil), []byte(nil))
	f.Add(make([]byte, 101), []byte("aad"))
	f.Fuzz(func(t *testing.T, plain, aad []byte) {
		plain = plain[:min(len(plain), 4096)]
		n := 100
		if len(plain) > 100 {
			n = 20
		}
		e := newEncryptor(t, secret)
		whole, nonces := map[string]bool{}, map[string]bool{}
		for range n {
			ct, err := e.Seal(nil, plain, aad)
			if err != nil {
				t.Fatal(err)
			}
			whole[string(ct)], nonces[string(ct[:12])] = true, true
		}
		if len(whole) != n || len(nonces) != n {
			t.Fatalf("%d ciphertexts and %d nonces for %d calls", len(whole), len(nonces), n)
		}
	})
}

// FuzzTruncatedCiphertext is encryption_truncated_ciphertext.
func FuzzTruncatedCiphertext(f *testing.F) {
	f.Add([]byte(nil), []byte(nil), uint16(27))
	f.Add([]byte("plain"), []byte("aad"), uint16(0))
	f.Fuzz(func(t *testing.T, plain, aad []byte, cut uint16) {
		e := newEncryptor(t, secret)
		ct := seal(t, e, plain, aad)
		n := len(ct)
		for _, k := range []int{0, 1, 11, 12, n / 2, n - 16, n - 1, int(cut) % n} {
			_, err := open(t, e, ct[:k], aad)
			if k < cachekit.Overhead && !errors.Is(err, cachekit.ErrInvalidCiphertext) {
				t.Fatalf("cut to %d of %d bytes: %v", k, n, err)
			}
			refused(t, "cut", err)
		}
		_, err := open(t, e, append(bytes.Clone(ct), 0), aad)
		refused(t, "longer", err)
	})
}

// FuzzAADInjection is encryption_aad_injection: no other additional data opens
// a ciphertext.
func FuzzAADInjection(f *testing.F) {
	f.Add([]byte("tenant:a"), []byte("tenant:b"), uint16(0))
	f.Add([]byte("a"), []byte("a\x00"), uint16(7))
	f.Add([]byte(nil), bytes.Repeat([]byte{'x'}, 10_240), uint16(0))
	f.Add([]byte("wrong"), []byte("wrong"), uint16(0))
	f.Fuzz(func(t *testing.T, aad, other []byte, bit uint16) {
		e := newEncryptor(t, secret)
		ct := seal(t, e, []byte("plaintext"), aad)
		long := bytes.Repeat([]byte{'x'}, 10_240)
		for _, o := range [][]byte{other, nil, long, flip(append(bytes.Clone(aad), 0), int(bit))} {
			if bytes.Equal(o, aad) {
				continue
			}
			_, err := open(t, e, ct, o)
			refused(t, "other additional data", err)
		}
		if len(aad) > 0 {
			_, err := open(t, e, ct, flip(aad, int(bit)))
			refused(t, "a bit of the additional data", err)
		}
	})
}

// FuzzLargePayload is encryption_large_payload: lengths up to 10 MiB.
func FuzzLargePayload(f *testing.F) {
	f.Add(corpus(f, "records", 1000), uint32(1<<20), []byte("aad"))
	f.Add([]byte{1}, uint32(10<<20), []byte(nil))
	f.Add([]byte(nil), uint32(0), []byte(nil))
	f.Fuzz(func(t *testing.T, unit []byte, size uint32, aad []byte) {
		n := int(size % (10<<20 + 1))
		plain := bytes.Repeat(append(unit, 7), n/(len(unit)+1)+1)[:n]
		e := newEncryptor(t, secret)
		ct, err := e.Seal(nil, plain, aad)
		if err != nil || len(ct) != n+cachekit.Overhead {
			t.Fatalf("%d bytes, %v", len(ct), err)
		}
		pt, err := e.Open(nil, ct, aad)
		if err != nil || !bytes.Equal(pt, plain) {
			t.Fatalf("%d bytes of %d, %v", len(pt), n, err)
		}
		ct[n/2] ^= 1
		_, err = e.Open(pt[:0], ct, aad)
		refused(t, "a bit in the middle", err)
	})
}

// FuzzLayeredSecurity is integration_layered_security: store, seal, open and
// retrieve; each layer catches its own corruption.
func FuzzLayeredSecurity(f *testing.F) {
	f.Add(corpus(f, "records", 300), []byte("aad"), uint16(77))
	f.Add([]byte(nil), []byte(nil), uint16(0))
	f.Fuzz(func(t *testing.T, payload, aad []byte, bit uint16) {
		e := newEncryptor(t, secret)
		env, err := cachekit.Store(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		ct := seal(t, e, env, aad)
		got, err := e.Open(nil, ct, aad)
		if err != nil || !bytes.Equal(got, env) {
			t.Fatal(err)
		}
		data, _, err := retrieve(t, got)
		if err != nil || !bytes.Equal(data, payload) {
			t.Fatal(err)
		}
		_, err = open(t, e, flip(ct, int(bit)), aad)
		refused(t, "outer layer", err)
		_, err = open(t, e, ct, append(bytes.Clone(aad), 0))
		refused(t, "additional data", err)
		// The inner layer has a checksum of the payload alone: a flip in the
		// label, or in bits that do not count, gives the same payload.
		if data, _, err := retrieve(t, flip(env, int(bit))); err == nil && !bytes.Equal(data, payload) {
			t.Fatalf("bit %d of the envelope: another payload", bit)
		}
	})
}
