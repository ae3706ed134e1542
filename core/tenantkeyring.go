package cachekit

import (
	"crypto/cipher"
	"fmt"
	"sync/atomic"
)

// A TenantKeyring is a [Keyring] bound to one tenant: every entry's key was
// derived and expanded once, by [Keyring.ForTenant], and is not kept otherwise.
// It has the same operations and errors but for those of the derivation.
//
// A TenantKeyring is safe for concurrent use and must not be copied.
//
// Spec section 7.
type TenantKeyring struct {
	_       noCopy
	entries atomic.Pointer[[]tenantEntry] // nil once closed
}

// A tenantEntry is one key of a TenantKeyring.
type tenantEntry struct {
	aead  cipher.AEAD
	print [FingerprintSize]byte
}

// EncryptionFingerprints returns the [Fingerprint] of each entry's derived key.
// It returns nil if the ring is closed.
func (t *TenantKeyring) EncryptionFingerprints() [][FingerprintSize]byte {
	entries := t.entries.Load()
	if entries == nil {
		return nil
	}
	prints := make([][FingerprintSize]byte, len(*entries))
	for i, e := range *entries {
		prints[i] = e.print
	}
	return prints
}

// DecryptAt is [Keyring.DecryptAt] for the ring's tenant. If dst has room for
// the plaintext, it allocates nothing.
func (t *TenantKeyring) DecryptAt(dst []byte, index int, ciphertext, aad []byte) ([]byte, error) {
	entries := t.entries.Load()
	if entries == nil {
		return dst, ErrClosed
	}
	if index < 0 || index >= len(*entries) {
		return dst, outOfRange(index, len(*entries))
	}
	return open((*entries)[index].aead, dst, ciphertext, aad)
}

// Decrypt is [Keyring.Decrypt] for the ring's tenant. If dst has room for the
// plaintext, it allocates nothing.
func (t *TenantKeyring) Decrypt(dst, ciphertext, aad []byte) ([]byte, error) {
	out, _, err := t.DecryptIndexed(dst, ciphertext, aad)
	return out, err
}

// DecryptIndexed is [Keyring.DecryptIndexed] for the ring's tenant. If dst has
// room for the plaintext, it allocates nothing.
func (t *TenantKeyring) DecryptIndexed(dst, ciphertext, aad []byte) (plaintext []byte, index int, err error) {
	entries := t.entries.Load()
	if entries == nil {
		return dst, -1, ErrClosed
	}
	return try(len(*entries), func(i int) ([]byte, error) {
		return open((*entries)[i].aead, dst, ciphertext, aad)
	})
}

// Close lets go of the expanded keys, as [Encryptor.Close] does. DecryptAt,
// Decrypt and DecryptIndexed fail with [ErrClosed] from then on.
func (t *TenantKeyring) Close() { t.entries.Store(nil) }

// String returns no byte of a key.
func (t *TenantKeyring) String() string {
	entries := t.entries.Load()
	if entries == nil {
		return "TenantKeyring(closed)"
	}
	return fmt.Sprintf("TenantKeyring{entries: %d, keys: %s}", len(*entries), redacted)
}

// GoString is String.
func (t *TenantKeyring) GoString() string { return t.String() }

// Format prints String, whatever the verb.
func (t *TenantKeyring) Format(f fmt.State, verb rune) { print(f, verb, t.String(), t.GoString()) }
