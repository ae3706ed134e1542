package cachekit_test

import (
	"fmt"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

func TestAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop buffers")
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	key := cachekit.Key(secret)
	aad := []byte("aad")
	e := newEncryptor(t, key[:])
	ring, err := cachekit.NewKeyring(secret)
	must(err)
	bound, err := ring.ForTenant("t")
	must(err)
	tk, err := cachekit.DeriveTenantKeys(secret, "t")
	must(err)
	tenantKey := tk.Encryption()
	of := newEncryptor(t, tenantKey[:])

	type row struct {
		name string
		f    func()
		max  float64
	}
	var rows []row
	for _, n := range []int{0, 10, 64, 1024, 65536} {
		payload := corpus(t, "records", n)
		dst := make([]byte, 0, 2*n+200)
		env, err := cachekit.Store(nil, payload)
		must(err)
		exact := make([]byte, 0, len(env))
		parts, err := cachekit.ParseEnvelope(env)
		must(err)
		ct, err := of.Seal(nil, payload, aad)
		must(err)
		name := func(s string) string { return fmt.Sprintf("%s/size=%d", s, n) }
		rows = append(rows,
			row{name("Store"), func() { _, err := cachekit.Store(dst, payload); must(err) }, 0},
			row{name("Store, exact room"), func() { _, err := cachekit.Store(exact, payload); must(err) }, 0},
			row{name("Store, no room"), func() { _, err := cachekit.Store(nil, payload); must(err) }, 1},
			row{name("Retrieve"), func() { _, _, err := cachekit.Retrieve(dst, env); must(err) }, 0},
			row{name("Retrieve, no room"), func() { _, _, err := cachekit.Retrieve(nil, env); must(err) }, 1},
			row{name("Codec.Store"), func() { _, err := cachekit.Codec{MaxPayload: 1 << 20}.Store(dst, payload); must(err) }, 0},
			row{name("Codec.Retrieve"), func() { _, _, err := cachekit.Codec{Strict: true}.Retrieve(dst, env); must(err) }, 0},
			row{name("Validate"), func() { cachekit.Validate(env) }, 0},
			row{name("ParseEnvelope"), func() { _, err := cachekit.ParseEnvelope(env); must(err) }, 0},
			row{name("Envelope.EncodeInto"), func() { must(parts.EncodeInto(exact[:len(env)])) }, 0},
			row{name("Envelope.Extract"), func() { _, err := parts.Extract(dst); must(err) }, 0},
			row{name("CheckStructure"), func() { must(cachekit.CheckStructure(env, 100)) }, 0},
			row{name("Checksum"), func() { cachekit.Checksum(payload) }, 0},
			row{name("EstimateRatio"), func() { _, err := cachekit.EstimateRatio(payload); must(err) }, 0},
			row{name("Seal"), func() { _, err := e.Seal(dst, payload, aad); must(err) }, 0},
			row{name("Seal, no room"), func() { _, err := e.Seal(nil, payload, aad); must(err) }, 1},
			row{name("Open"), func() { _, err := of.Open(dst, ct, aad); must(err) }, 0},
			row{name("TenantKeyring.Decrypt"), func() { _, err := bound.Decrypt(dst, ct, aad); must(err) }, 0},
			row{name("TenantKeyring.DecryptAt"), func() { _, err := bound.DecryptAt(dst, 0, ct, aad); must(err) }, 0},
		)
	}
	// Errors without words of their own cost nothing either.
	bomb := []byte("\x94\xc4\x00\x98\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0")
	rows = append(rows,
		row{"Retrieve, bomb", func() { cachekit.Retrieve(nil, bomb) }, 0},
		row{"Open, short", func() { e.Open(nil, nil, nil) }, 0},
		row{"Fingerprint", func() { cachekit.Fingerprint(secret) }, 0},
	)
	for _, r := range rows {
		if got := testing.AllocsPerRun(50, r.f); got > r.max {
			t.Errorf("%s: %v allocations, want at most %v", r.name, got, r.max)
		}
	}
}
