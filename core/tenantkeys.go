package cachekit

import (
	"fmt"
	"runtime"
)

// TenantKeys are the three keys of one tenant. They print as the tenant id and
// the encryption key's fingerprint. Close wipes them, and so does, at some time
// and as best it can, the garbage collector.
//
// Reading is safe from any number of goroutines; Close must be alone.
//
// Spec section 6.
type TenantKeys struct {
	_      noCopy
	tenant string
	keys   *tenantKeys // apart, so that a cleanup can reach it; nil once closed
}

// tenantKeys are the secrets of a TenantKeys.
type tenantKeys struct {
	encryption, authentication, cacheKeys Key
}

func (k *tenantKeys) wipe() {
	k.encryption.Wipe()
	k.authentication.Wipe()
	k.cacheKeys.Wipe()
}

// DeriveTenantKeys derives a tenant's keys: [DeriveDomainKey] for each of
// [DomainEncryption], [DomainAuthentication] and [DomainCacheKeys] with the
// tenant id's bytes as the salt, so the id has 1 to 1024 bytes. Its errors are
// those of DeriveDomainKey. It copies nothing of master.
//
// Spec section 6.
func DeriveTenantKeys(master []byte, tenant string) (*TenantKeys, error) {
	k := new(tenantKeys)
	for _, d := range []struct {
		key    *Key
		domain string
	}{
		{&k.encryption, DomainEncryption},
		{&k.authentication, DomainAuthentication},
		{&k.cacheKeys, DomainCacheKeys},
	} {
		var err error
		if *d.key, err = DeriveDomainKey(master, d.domain, []byte(tenant)); err != nil {
			k.wipe()
			return nil, err
		}
	}
	t := &TenantKeys{tenant: tenant, keys: k}
	runtime.AddCleanup(t, (*tenantKeys).wipe, k)
	return t, nil
}

// Tenant returns the tenant id.
func (t *TenantKeys) Tenant() string { return t.tenant }

// Encryption returns a copy of the encryption key. Wipe it after use.
func (t *TenantKeys) Encryption() Key { return t.copy(&t.open().encryption) }

// Authentication returns a copy of the authentication key. Wipe it after use.
func (t *TenantKeys) Authentication() Key { return t.copy(&t.open().authentication) }

// CacheKeySalt returns a copy of the salt for cache keys, the key of
// [DomainCacheKeys]. Wipe it after use.
func (t *TenantKeys) CacheKeySalt() Key { return t.copy(&t.open().cacheKeys) }

// EncryptionFingerprint returns the [Fingerprint] of the encryption key.
func (t *TenantKeys) EncryptionFingerprint() [FingerprintSize]byte {
	f := Fingerprint(t.open().encryption[:])
	runtime.KeepAlive(t)
	return f
}

// AuthenticationFingerprint returns the [Fingerprint] of the authentication
// key.
func (t *TenantKeys) AuthenticationFingerprint() [FingerprintSize]byte {
	f := Fingerprint(t.open().authentication[:])
	runtime.KeepAlive(t)
	return f
}

// open returns the keys. It panics if t is closed: the zeros that are left
// would pass for a key.
func (t *TenantKeys) open() *tenantKeys {
	if t.keys == nil {
		panic("cachekit: TenantKeys used after Close")
	}
	return t.keys
}

// copy returns *k and keeps t from being cleaned up before that.
func (t *TenantKeys) copy(k *Key) Key {
	key := *k
	runtime.KeepAlive(t)
	return key
}

// Close wipes the keys. Copies that were returned are not reached. Every method
// but Tenant, Close and the printing ones panics afterwards.
func (t *TenantKeys) Close() {
	if t.keys != nil {
		t.keys.wipe()
		t.keys = nil
	}
}

// String returns the tenant id and the encryption key's fingerprint.
func (t *TenantKeys) String() string {
	if t == nil || t.keys == nil {
		return "TenantKeys(closed)"
	}
	return fmt.Sprintf("TenantKeys{tenant: %q, encryption fingerprint: %x, keys: %s}",
		t.tenant, t.EncryptionFingerprint(), redacted)
}

// GoString is String.
func (t *TenantKeys) GoString() string { return t.String() }

// Format prints String, whatever the verb.
func (t *TenantKeys) Format(f fmt.State, verb rune) { print(f, verb, t.String(), t.GoString()) }

// MarshalText fails: keys are not marshalled.
func (t *TenantKeys) MarshalText() ([]byte, error) { return nil, errMarshal }

// MarshalBinary fails: keys are not marshalled.
func (t *TenantKeys) MarshalBinary() ([]byte, error) { return nil, errMarshal }

// noCopy makes go vet complain about copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
