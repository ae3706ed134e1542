package bench

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

const (
	tenant = "tenant-123"

	// aad is shaped like a client's additional data. Its last length says 16
	// for 15 bytes: the original's benchmarks have it so, and no one reads it.
	aad = "\x03\x00\x00\x00\x0atenant-123\x00\x00\x00\x10ns:bench:func:x"

	// keyHex is what the master key derives for the tenant. Spec
	// section 6.
	keyHex = "00e4a5f52d101eb99a4fe924a215e2b12524f73c4fa17eff40e243da39ca3e42"
)

// master is the master key.
var master = bytes.Repeat([]byte{0x42}, 32)

// each runs f as a sub-benchmark for every payload size.
func each(b *testing.B, f func(b *testing.B, payload []byte)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("size=%d", n), func(b *testing.B) {
			payload := records(n)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			f(b, payload)
		})
	}
}

// must ends the benchmark on an error.
func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// same ends the benchmark unless a call gave what it should: a fast wrong
// answer is no figure.
func same(b *testing.B, got, want []byte) {
	b.Helper()
	if !bytes.Equal(got, want) {
		b.Fatalf("got %d bytes, which are not the %d expected", len(got), len(want))
	}
}

// store returns the payload's envelope with room for what Store writes.
func store(b *testing.B, payload []byte) []byte {
	b.Helper()
	env, err := cachekit.Store(make([]byte, 0, len(payload)+len(payload)/255+64), payload)
	must(b, err)
	return env
}

// tenantKey returns the tenant's key.
func tenantKey(b *testing.B) []byte {
	b.Helper()
	key, err := cachekit.DeriveDomainKey(master, cachekit.DomainEncryption, []byte(tenant))
	must(b, err)
	return key[:]
}

// encryptor returns an encryptor for the tenant's key.
func encryptor(b *testing.B) *cachekit.Encryptor {
	b.Helper()
	e, err := cachekit.NewEncryptor(tenantKey(b))
	must(b, err)
	return e
}

// sealed returns the payload's ciphertext under the tenant's key.
func sealed(b *testing.B, payload []byte) []byte {
	b.Helper()
	ct, err := encryptor(b).Seal(nil, payload, []byte(aad))
	must(b, err)
	return ct
}

func BenchmarkStore(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		dst := store(b, payload)
		got, format, err := cachekit.Retrieve(nil, dst)
		must(b, err)
		same(b, got, payload)
		same(b, []byte(format), []byte(cachekit.DefaultFormat))
		for b.Loop() {
			dst, err = cachekit.Store(dst[:0], payload)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRetrieve(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		env := store(b, payload)
		dst, _, err := cachekit.Retrieve(nil, env)
		must(b, err)
		same(b, dst, payload)
		for b.Loop() {
			dst, _, err = cachekit.Retrieve(dst[:0], env)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPrescan walks the envelope of the payload, not the payload.
func BenchmarkPrescan(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		env := store(b, payload)
		n, err := cachekit.DocumentLen(env, cachekit.MaxDepth)
		must(b, err)
		same(b, env[:n], env)
		for b.Loop() {
			if err := cachekit.CheckStructure(env, cachekit.MaxDepth); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncrypt(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		e := encryptor(b)
		dst, err := e.Seal(nil, payload, []byte(aad))
		must(b, err)
		got, err := e.Open(nil, dst, []byte(aad))
		must(b, err)
		same(b, got, payload)
		data := []byte(aad)
		for b.Loop() {
			dst, err = e.Seal(dst[:0], payload, data)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecrypt(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		e := encryptor(b)
		ct := sealed(b, payload)
		data := []byte(aad)
		dst, err := e.Open(nil, ct, data)
		must(b, err)
		same(b, dst, payload)
		for b.Loop() {
			dst, err = e.Open(dst[:0], ct, data)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkEncryptNewKey makes an encryptor for each ciphertext, as a caller
// does that has another key each time, and as the original does at every call.
func BenchmarkEncryptNewKey(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		key, data := tenantKey(b), []byte(aad)
		dst := sealed(b, payload)
		got, err := encryptor(b).Open(nil, dst, data)
		must(b, err)
		same(b, got, payload)
		for b.Loop() {
			e, err := cachekit.NewEncryptor(key)
			if err != nil {
				b.Fatal(err)
			}
			if dst, err = e.Seal(dst[:0], payload, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDecryptNewKey makes an encryptor for each ciphertext too.
func BenchmarkDecryptNewKey(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		key, data := tenantKey(b), []byte(aad)
		ct := sealed(b, payload)
		dst, err := encryptor(b).Open(nil, ct, data)
		must(b, err)
		same(b, dst, payload)
		for b.Loop() {
			e, err := cachekit.NewEncryptor(key)
			if err != nil {
				b.Fatal(err)
			}
			if dst, err = e.Open(dst[:0], ct, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// keyring returns a ring with the current key alone.
func keyring(b *testing.B) *cachekit.Keyring {
	b.Helper()
	ring, err := cachekit.NewKeyring(master)
	must(b, err)
	return ring
}

func BenchmarkKeyringDecrypt(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		ring := keyring(b)
		ct := sealed(b, payload)
		data := []byte(aad)
		dst, err := ring.Decrypt(nil, ct, tenant, data)
		must(b, err)
		same(b, dst, payload)
		for b.Loop() {
			dst, err = ring.Decrypt(dst[:0], ct, tenant, data)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkTenantKeyringDecrypt(b *testing.B) {
	each(b, func(b *testing.B, payload []byte) {
		ring, err := keyring(b).ForTenant(tenant)
		must(b, err)
		ct := sealed(b, payload)
		data := []byte(aad)
		dst, err := ring.Decrypt(nil, ct, data)
		must(b, err)
		same(b, dst, payload)
		for b.Loop() {
			dst, err = ring.Decrypt(dst[:0], ct, data)
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkHKDF(b *testing.B) {
	want, err := hex.DecodeString(keyHex)
	must(b, err)
	salt := []byte(tenant)
	key, err := cachekit.DeriveDomainKey(master, cachekit.DomainEncryption, salt)
	must(b, err)
	same(b, key[:], want)
	b.ReportAllocs()
	for b.Loop() {
		if key, err = cachekit.DeriveDomainKey(master, cachekit.DomainEncryption, salt); err != nil {
			b.Fatal(err)
		}
	}
}
