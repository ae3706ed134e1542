package cachekit_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// property runs f on cases drawn from a fixed seed: 100 if short, else 500.
func property(t *testing.T, f func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	n := 500
	if testing.Short() {
		n = 100
	}
	for i := range n {
		f(t, rand.New(rand.NewPCG(11, uint64(i))))
		if t.Failed() {
			t.Fatalf("case %d", i)
		}
	}
}

// draw returns from min to max bytes: of few values or of many, so that some
// compress.
func draw(r *rand.Rand, min, max int) []byte {
	b := make([]byte, min+r.IntN(max-min+1))
	values := 1 + r.IntN(256)
	for i := range b {
		b[i] = byte(r.IntN(values))
	}
	return b
}

// domain returns 3 to 20 lower-case letters.
func domain(r *rand.Rand) string {
	b := draw(r, 3, 20)
	for i := range b {
		b[i] = 'a' + b[i]%26
	}
	return string(b)
}

// The properties of spec section 11.

func TestPropertyStore(t *testing.T) {
	property(t, func(t *testing.T, r *rand.Rand) {
		payload := draw(r, 0, 10_000)
		env, err := cachekit.Store(nil, payload)
		again, err2 := cachekit.Store(nil, bytes.Clone(payload))
		if err != nil || err2 != nil || !bytes.Equal(env, again) {
			t.Errorf("%d bytes stored twice: %v, %v", len(payload), err, err2)
		}
		if data, format, err := retrieve(t, env); err != nil || !bytes.Equal(data, payload) || format != "msgpack" {
			t.Errorf("%d bytes: got %d, %q, %v", len(payload), len(data), format, err)
		}
	})
}

func TestPropertyEncryptor(t *testing.T) {
	property(t, func(t *testing.T, r *rand.Rand) {
		plain, aad, key := draw(r, 0, 10_000), draw(r, 0, 256), draw(r, 32, 32)
		a, b := newEncryptor(t, key), newEncryptor(t, key)
		x, err := a.Seal(nil, plain, aad)
		y, err2 := b.Seal(nil, plain, aad)
		if err != nil || err2 != nil || bytes.Equal(x, y) || bytes.Equal(x[:12], y[:12]) {
			t.Errorf("two encryptors: %x, %x, %v, %v", x[:12], y[:12], err, err2)
		}
		for _, ct := range [][]byte{x, y} {
			if pt, err := open(t, b, ct, aad); err != nil || !bytes.Equal(pt, plain) {
				t.Errorf("%d bytes: got %d, %v", len(plain), len(pt), err)
			}
		}
	})
}

func TestPropertyDerive(t *testing.T) {
	property(t, func(t *testing.T, r *rand.Rand) {
		master, domain, tenant, other := draw(r, 32, 64), domain(r), draw(r, 1, 32), draw(r, 1, 32)
		a, err := cachekit.DeriveDomainKey(master, domain, tenant)
		b, err2 := cachekit.DeriveDomainKey(bytes.Clone(master), domain, bytes.Clone(tenant))
		c, err3 := cachekit.DeriveDomainKey(master, domain, other)
		if err != nil || err2 != nil || err3 != nil || a != b {
			t.Errorf("derived twice: %v, %v, %v", err, err2, err3)
		}
		if (a == c) != bytes.Equal(tenant, other) {
			t.Errorf("tenants %x and %x: one key", tenant, other)
		}
	})
}

func TestPropertyPipeline(t *testing.T) {
	property(t, func(t *testing.T, r *rand.Rand) {
		payload, tenant := draw(r, 0, 10_000), draw(r, 1, 32)
		aad := cachekit.AAD3(nil, string(tenant), domain(r), "msgpack", true, "")
		master := draw(r, 32, 64)
		keys, err := cachekit.DeriveTenantKeys(master, string(tenant))
		if err != nil {
			t.Fatal(err)
		}
		key := keys.Encryption()
		env, err := cachekit.Store(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		ct, err := newEncryptor(t, key[:]).Seal(nil, env, aad)
		if err != nil {
			t.Fatal(err)
		}
		ring, err := cachekit.NewKeyring(master)
		if err != nil {
			t.Fatal(err)
		}
		pt, err := ring.Decrypt(nil, ct, string(tenant), aad)
		if err != nil {
			t.Fatal(err)
		}
		if data, _, err := cachekit.Retrieve(nil, pt); err != nil || !bytes.Equal(data, payload) {
			t.Errorf("%d bytes: got %d, %v", len(payload), len(data), err)
		}
	})
}
