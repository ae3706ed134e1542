package cachekit_test

import (
	"bytes"
	"errors"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// addEnvelopes seeds a fuzz target with the envelopes of the vectors.
func addEnvelopes(f *testing.F) {
	for _, v := range loadWire(f).Vectors {
		f.Add([]byte(v.Envelope))
	}
	for _, v := range loadWire(f).Reject {
		f.Add([]byte(v.Envelope))
	}
	for _, s := range []string{"retrieve_lz4", "retrieve_bounds"} {
		rows := map[string]int{"retrieve_lz4": 30, "retrieve_bounds": 29}[s]
		for _, v := range section[retrieveRow](f, s, rows) {
			f.Add([]byte(v.Envelope))
		}
	}
}

func FuzzRetrieve(f *testing.F) {
	addEnvelopes(f)
	// A low limit, so that the fuzzer cannot fill the memory by right.
	c := cachekit.Codec{MaxPayload: 1 << 20}
	f.Fuzz(func(t *testing.T, env []byte) {
		data, format, err := retrieveWith(t, c, env)
		if err != nil {
			kinds := 0
			for _, k := range envelopeKinds {
				if errors.Is(err, k.err) {
					kinds++
				}
			}
			if kinds != 1 {
				t.Fatalf("%v is of %d kinds", err, kinds)
			}
			return
		}
		again, err := cachekit.StoreFormat(nil, data, format)
		if err != nil {
			t.Fatal(err)
		}
		if d, f, err := retrieve(t, again); err != nil || !bytes.Equal(d, data) || f != format {
			t.Fatalf("stored again: %d bytes, %q, %v", len(d), f, err)
		}
	})
}

func FuzzStore(f *testing.F) {
	f.Add([]byte(nil), "msgpack")
	f.Add(corpus(f, "records", 700), "json")
	f.Add(corpus(f, "xorshift", 64), "")
	f.Fuzz(func(t *testing.T, payload []byte, format string) {
		env, err := cachekit.StoreFormat(nil, payload, format)
		if errors.Is(err, cachekit.ErrSerializationFailed) {
			return // not UTF-8
		}
		if err != nil {
			t.Fatal(err)
		}
		data, fmt, err := retrieveWith(t, cachekit.Codec{Strict: true}, env)
		if err != nil || !bytes.Equal(data, payload) || fmt != format {
			t.Fatalf("got %d bytes, %q, %v", len(data), fmt, err)
		}
		if _, err := cachekit.EstimateRatio(payload); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzEncryptor(f *testing.F) {
	f.Add([]byte("plain"), []byte("aad"), []byte("0123456789abcdef0123456789abcdef"), uint16(3))
	f.Add([]byte(nil), []byte(nil), make([]byte, 32), uint16(0))
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
		ct, err := e.Seal(nil, plain, aad)
		if err != nil {
			t.Fatal(err)
		}
		if pt, err := open(t, e, ct, aad); err != nil || !bytes.Equal(pt, plain) {
			t.Fatalf("got %x, %v", pt, err)
		}
		if _, err := open(t, e, ct, append(bytes.Clone(aad), 0)); !errors.Is(err, cachekit.ErrAuthenticationFailed) {
			t.Fatalf("longer additional data: %v", err)
		}
		ct[int(bit)/8%len(ct)] ^= 1 << (bit % 8)
		if _, err := open(t, e, ct, aad); !errors.Is(err, cachekit.ErrAuthenticationFailed) {
			t.Fatalf("bit %d flipped: %v", bit, err)
		}
	})
}

func FuzzDerive(f *testing.F) {
	f.Add(make([]byte, 16), "encryption", []byte("tenant"))
	f.Add(make([]byte, 15), "", []byte(nil))
	f.Fuzz(func(t *testing.T, master []byte, domain string, salt []byte) {
		key, err := cachekit.DeriveDomainKey(master, domain, salt)
		bad := len(master) < 16 || domain == "" || len(domain) > 255 || len(salt) == 0 || len(salt) > 1024
		if bad != (err != nil) || bad != (key == cachekit.Key{}) {
			t.Fatalf("%d, %d and %d bytes: %v", len(master), len(domain), len(salt), err)
		}
		again, _ := cachekit.DeriveDomainKey(master, domain, salt)
		other, err := cachekit.DeriveDomainKey(append(bytes.Clone(master), 1), domain, salt)
		if again != key || err == nil && other == key {
			t.Fatal("not a function of its arguments")
		}
	})
}

// Store, seal, open and retrieve; each layer catches its own corruption.
func FuzzLayers(f *testing.F) {
	f.Add(corpus(f, "records", 300), []byte("aad"), uint16(77))
	f.Fuzz(func(t *testing.T, payload, aad []byte, bit uint16) {
		e := newEncryptor(t, secret)
		env, err := cachekit.Store(nil, payload)
		if err != nil {
			t.Fatal(err)
		}
		ct, err := e.Seal(nil, env, aad)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Open(nil, ct, aad)
		if err != nil || !bytes.Equal(got, env) {
			t.Fatal(err)
		}
		data, _, err := retrieve(t, got)
		if err != nil || !bytes.Equal(data, payload) {
			t.Fatal(err)
		}
		got[int(bit)/8%len(got)] ^= 1 << (bit % 8)
		if data, _, err := retrieve(t, got); err == nil && !bytes.Equal(data, payload) {
			t.Fatalf("bit %d flipped: another payload", bit)
		}
	})
}
