package cachekit_test

import (
	"crypto/fips140"
	"errors"
	"os"
	"os/exec"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// In FIPS 140-3 mode nothing changes; where it is enforced encryption is refused
// by an error, and the rest works. Each mode needs a process of its own.
func TestFIPS140(t *testing.T) {
	if fips140.Enforced() {
		enforced(t)
		return
	}
	if fips140.Enabled() {
		return // the other tests of this process are the test
	}
	for mode, run := range map[string]string{"on": ".", "only": "^TestFIPS140$"} {
		// The longest tests that use no cryptography are left out.
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.short", "-test.run="+run, "-test.skip=^Test(StoreEveryLength|EnvelopeDamage|EnvelopeErrors)$")
		c.Env = append(os.Environ(), "GODEBUG=fips140="+mode)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("fips140=%s: %v\n%s", mode, err, out)
		}
	}
}

// enforced is TestFIPS140 under fips140=only. The standard library refuses
// AES-GCM with nonces that it has not made, and cannot be told how ours are.
func enforced(t *testing.T) {
	env, err := cachekit.Store(nil, []byte("payload"))
	if err != nil {
		t.Error(err)
	}
	if payload, _, err := retrieve(t, env); err != nil || string(payload) != "payload" {
		t.Errorf("got %q, %v", payload, err)
	}
	keys, err := cachekit.DeriveTenantKeys(secret, "tenant-123")
	if err != nil {
		t.Fatal(err)
	}
	keys.EncryptionFingerprint()
	if _, err := cachekit.NewEncryptor(secret); !errors.Is(err, cachekit.ErrEncryptionFailed) {
		t.Errorf("got %v, want %v", err, cachekit.ErrEncryptionFailed)
	}
	ring, err := cachekit.NewKeyring(secret)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.EncryptionFingerprints("tenant-123"); err != nil {
		t.Error(err)
	}
	if _, err := ring.Decrypt(nil, make([]byte, cachekit.Overhead), "tenant-123", nil); !errors.Is(err, cachekit.ErrEncryptionFailed) {
		t.Errorf("got %v, want %v", err, cachekit.ErrEncryptionFailed)
	}
	if _, err := ring.ForTenant("tenant-123"); !errors.Is(err, cachekit.ErrEncryptionFailed) {
		t.Errorf("got %v, want %v", err, cachekit.ErrEncryptionFailed)
	}
}
