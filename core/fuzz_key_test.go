package cachekit_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// The fuzz targets of spec section 10 on keys; each names its row. FuzzKeyring
// and FuzzAAD3 have none there.

// FuzzKeyDerivation is encryption_key_derivation, with any master key and
// domain.
func FuzzKeyDerivation(f *testing.F) {
	f.Add(make([]byte, 16), "encryption", []byte("tenant"))
	f.Add(make([]byte, 15), "", []byte(nil))
	f.Add(make([]byte, 16), "a", bytes.Repeat([]byte{0}, 1024))
	f.Add(make([]byte, 16), strings.Repeat("d", 256), bytes.Repeat([]byte{0xff}, 1025))
	f.Fuzz(func(t *testing.T, master []byte, domain string, salt []byte) {
		key, err := cachekit.DeriveDomainKey(master, domain, salt)
		bad := len(master) < 16 || domain == "" || len(domain) > 255 || len(salt) == 0 || len(salt) > 1024
		if bad != (err != nil) || bad != (key == cachekit.Key{}) {
			t.Fatalf("%d, %d and %d bytes: %v", len(master), len(domain), len(salt), err)
		}
		again, _ := cachekit.DeriveDomainKey(master, domain, salt)
		if again != key {
			t.Fatal("not a function of its arguments")
		}
		if err != nil {
			return
		}
		for _, other := range []func() (cachekit.Key, error){
			func() (cachekit.Key, error) {
				return cachekit.DeriveDomainKey(append(bytes.Clone(master), 1), domain, salt)
			},
			func() (cachekit.Key, error) { return cachekit.DeriveDomainKey(master, domain, flip(salt, 0)) },
			func() (cachekit.Key, error) {
				return cachekit.DeriveDomainKey(master, string(flip([]byte(domain), 0)), salt)
			},
		} {
			if o, err := other(); err == nil && o == key {
				t.Fatal("other arguments, the same key")
			}
		}
	})
}

// FuzzTenantKeys is key_derivation.
func FuzzTenantKeys(f *testing.F) {
	f.Add(make([]byte, 32), "tenant-123", "-x")
	f.Add(make([]byte, 16), "", "x")
	f.Add(make([]byte, 16), strings.Repeat("t", 10_000), "x")
	f.Add(make([]byte, 16), "\u202e字\x00", "\x00")
	f.Fuzz(func(t *testing.T, master []byte, tenant, suffix string) {
		tk, err := cachekit.DeriveTenantKeys(master, tenant)
		if bad := len(master) < 16 || tenant == "" || len(tenant) > 1024; bad != (err != nil) {
			t.Fatalf("%d bytes and a tenant of %d: %v", len(master), len(tenant), err)
		}
		if err != nil {
			return
		}
		again, err := cachekit.DeriveTenantKeys(master, tenant)
		if err != nil {
			t.Fatal(err)
		}
		a, b, c := tk.Encryption(), tk.Authentication(), tk.CacheKeySalt()
		if a == b || b == c || a == c || a == (cachekit.Key{}) || b == (cachekit.Key{}) || c == (cachekit.Key{}) {
			t.Fatal("the three keys are not three")
		}
		if again.Encryption() != a || again.Authentication() != b || again.CacheKeySalt() != c ||
			again.EncryptionFingerprint() != cachekit.Fingerprint(a[:]) || tk.AuthenticationFingerprint() != cachekit.Fingerprint(b[:]) {
			t.Fatal("not a function of its arguments")
		}
		other, err := cachekit.DeriveTenantKeys(master, tenant+suffix)
		if err != nil || suffix == "" {
			return
		}
		if other.Encryption() == a || other.Authentication() == b || other.CacheKeySalt() == c || other.EncryptionFingerprint() == tk.EncryptionFingerprint() {
			t.Fatal("another tenant, the same keys")
		}
	})
}

// FuzzKeyring seals under one key of a ring and looks for it by every way of
// opening, bound to the tenant and not.
func FuzzKeyring(f *testing.F) {
	f.Add([]byte("seed"), "tenant", []byte("plain"), []byte("aad"), uint8(3), uint8(2))
	f.Add([]byte("seed"), "", []byte(nil), []byte(nil), uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, seed []byte, tenant string, plain, aad []byte, old, with uint8) {
		// Two of the keys are equal when the seed says so.
		keys := make([][]byte, 1+old%4)
		for i := range keys {
			k := cachekit.Fingerprint(append(bytes.Clone(seed), byte(i)))
			if i > 1 && len(seed) > 0 && seed[0]%4 == 0 {
				k = [16]byte(keys[1])
			}
			keys[i] = k[:]
		}
		ring, err := cachekit.NewKeyring(keys[0], keys[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		at := int(with) % len(keys)
		key, err := cachekit.DeriveDomainKey(keys[at], cachekit.DomainEncryption, []byte(tenant))
		if err != nil {
			if _, err := ring.Decrypt(nil, make([]byte, 28), tenant, aad); !errors.Is(err, cachekit.ErrKeyDerivation) {
				t.Fatalf("tenant of %d bytes: %v", len(tenant), err)
			}
			return
		}
		ct := seal(t, newEncryptor(t, key[:]), plain, aad)
		prints, err := ring.EncryptionFingerprints(tenant)
		if err != nil {
			t.Fatal(err)
		}
		first := at
		for i := range keys {
			_, err := ring.DecryptAt(nil, i, ct, tenant, aad)
			if fits := bytes.Equal(keys[i], keys[at]); fits != (err == nil) || fits != (prints[i] == cachekit.Fingerprint(key[:])) {
				t.Fatalf("entry %d, sealed with %d: %v", i, at, err)
			} else if fits {
				first = min(first, i)
			} else {
				refused(t, "another entry", err)
			}
		}
		pt, index, err := ring.DecryptIndexed(nil, ct, tenant, aad)
		if err != nil || index != first || !bytes.Equal(pt, plain) {
			t.Fatalf("got %d bytes with entry %d, %v, want entry %d", len(pt), index, err, first)
		}
		_, err = ring.Decrypt(nil, flip(ct, int(with)), tenant, aad)
		refused(t, "a bit", err)
		bound, err := ring.ForTenant(tenant)
		if err != nil {
			t.Fatal(err)
		}
		pt, index, err = bound.DecryptIndexed(nil, ct, aad)
		if err != nil || index != first || !bytes.Equal(pt, plain) {
			t.Fatalf("bound: got %d bytes with entry %d, %v, want entry %d", len(pt), index, err, first)
		}
		_, err = bound.Decrypt(nil, flip(ct, int(with)), aad)
		refused(t, "bound: a bit", err)
	})
}

// FuzzAAD3 reads the parts back: no two lists of parts give the same additional
// data.
func FuzzAAD3(f *testing.F) {
	f.Add("cross-sdk-test", "test:vector:1", "msgpack", false, "")
	f.Add("", "\x00\x00\x00\x01a", "", true, "dict")
	f.Fuzz(func(t *testing.T, tenant, key, format string, compressed bool, typ string) {
		aad := cachekit.AAD3([]byte("dst"), tenant, key, format, compressed, typ)
		rest, ok := bytes.CutPrefix(aad, []byte("dst\x03"))
		if !ok {
			t.Fatalf("begins %x", aad[:4])
		}
		var parts []string
		for len(rest) > 0 {
			n := binary.BigEndian.Uint32(rest)
			parts = append(parts, string(rest[4:4+n]))
			rest = rest[4+n:]
		}
		want := []string{tenant, key, format, map[bool]string{true: "True", false: "False"}[compressed]}
		if typ != "" {
			want = append(want, typ)
		}
		if strings.Join(parts, "\n") != strings.Join(want, "\n") || len(parts) != len(want) {
			t.Fatalf("got %q, want %q", parts, want)
		}
	})
}
