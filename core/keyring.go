package cachekit

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// MaxDecryptOnlyKeys is the number of old master keys that a ring may hold. See
// spec section 7.
const MaxDecryptOnlyKeys = 3

// A Keyring opens ciphertexts that were sealed under the current master key or
// one of a few older ones. It does not seal: writers use the current key, and a
// ciphertext does not say which key it needs.
//
// Entry 0 is the current key, then come the old ones in the order given. Every
// call derives the tenant's encryption keys anew; for many calls with one
// tenant use [Keyring.ForTenant].
//
// A Keyring is safe for concurrent use and must not be copied. Close wipes the
// keys, and so does, at some time and as best it can, the garbage collector.
//
// Spec section 7.
type Keyring struct {
	_     noCopy
	suite Suite
	mu    sync.RWMutex
	ring  *masterKeys // apart, so that a cleanup can reach it; nil once closed
}

// masterKeys are the secrets of a Keyring.
type masterKeys struct{ keys [][]byte }

func (m *masterKeys) wipe() {
	for _, k := range m.keys {
		wipe(k)
	}
}

// NewKeyring returns a ring of copies of the keys.
//
// It fails, in this order, with [ErrKeyringCapExceeded] if there are more than
// [MaxDecryptOnlyKeys] old keys; [ErrInvalidMasterKeyLength] for the first key,
// the current one first, that is shorter than [MinMasterKeySize]; and
// [ErrCurrentKeyInDecryptOnlyList] if current is one of the old ones, byte for
// byte. An old key may be given twice; the first entry then wins.
//
// Spec section 7.
func NewKeyring(current []byte, decryptOnly ...[]byte) (*Keyring, error) {
	return Suite{}.NewKeyring(current, decryptOnly...)
}

// NewKeyring is the function [NewKeyring] with the cipher of s.
func (s Suite) NewKeyring(current []byte, decryptOnly ...[]byte) (*Keyring, error) {
	if n := len(decryptOnly); n > MaxDecryptOnlyKeys {
		return nil, fail(ErrKeyringCapExceeded, "Keyring cap exceeded: at most 3 decrypt-only keys allowed, got %d", n)
	}
	keys := append([][]byte{current}, decryptOnly...)
	for _, k := range keys {
		if len(k) < MinMasterKeySize {
			return nil, shortMaster(len(k))
		}
	}
	for _, k := range decryptOnly {
		if bytes.Equal(current, k) {
			return nil, ErrCurrentKeyInDecryptOnlyList
		}
	}
	for i, k := range keys {
		keys[i] = slices.Clone(k)
	}
	r := &Keyring{suite: s, ring: &masterKeys{keys}}
	runtime.AddCleanup(r, (*masterKeys).wipe, r.ring)
	return r, nil
}

// with calls f with the master keys while they cannot be wiped.
func (r *Keyring) with(f func(keys [][]byte) error) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	defer runtime.KeepAlive(r)
	if r.ring == nil {
		return ErrClosed
	}
	return f(r.ring.keys)
}

// derive returns the tenant's encryption key under one master key.
func derive(master []byte, tenant string) (Key, error) {
	key, err := DeriveDomainKey(master, DomainEncryption, []byte(tenant))
	if err != nil && !errors.Is(err, ErrKeyDerivation) {
		err = because(ErrKeyDerivation, err)
	}
	return key, err
}

// EncryptionFingerprints returns for each entry the [Fingerprint] of the
// tenant's derived encryption key, not of the master key. A writer that stores
// the fingerprint with the ciphertext lets the reader choose the entry for
// [Keyring.DecryptAt]. There are as many as the ring has entries.
//
// It fails with [ErrKeyDerivation] if the tenant id is empty or over
// [MaxTenantSaltSize], and with [ErrClosed].
func (r *Keyring) EncryptionFingerprints(tenant string) ([][FingerprintSize]byte, error) {
	var prints [][FingerprintSize]byte
	err := r.with(func(keys [][]byte) error {
		for _, master := range keys {
			key, err := derive(master, tenant)
			if err != nil {
				return err
			}
			prints = append(prints, Fingerprint(key[:]))
			key.Wipe()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return prints, nil
}

// DecryptAt opens a ciphertext with the entry of that index alone and appends
// the plaintext to dst, like [Encryptor.Open]. The choice is binding: if the
// entry does not open it, no other is tried.
//
// The error wraps, in the order of the checks, [ErrClosed],
// [ErrKeyringIndexOutOfRange], [ErrKeyDerivation] for a bad tenant id,
// [ErrInvalidCiphertext] or [ErrAuthenticationFailed]. On error dst is returned
// as it was.
func (r *Keyring) DecryptAt(dst []byte, index int, ciphertext []byte, tenant string, aad []byte) ([]byte, error) {
	out := dst
	err := r.with(func(keys [][]byte) (err error) {
		if index < 0 || index >= len(keys) {
			return outOfRange(index, len(keys))
		}
		out, err = r.decrypt(dst, keys[index], ciphertext, tenant, aad)
		return err
	})
	return out, err
}

// decrypt opens a ciphertext under one master key.
func (r *Keyring) decrypt(dst, master, ciphertext []byte, tenant string, aad []byte) ([]byte, error) {
	key, err := derive(master, tenant)
	if err != nil {
		return dst, err
	}
	defer key.Wipe()
	if len(ciphertext) < Overhead {
		return dst, errShort
	}
	a, err := r.suite.aead(key[:])
	if err != nil {
		return dst, err
	}
	return open(a, dst, ciphertext, aad)
}

// outOfRange reports an index that a ring of n entries does not have.
func outOfRange(index, n int) error {
	return fail(ErrKeyringIndexOutOfRange, "Keyring entry index %d out of range (entry count %d)", index, n)
}

// Decrypt is [Keyring.DecryptIndexed] without the index.
func (r *Keyring) Decrypt(dst, ciphertext []byte, tenant string, aad []byte) ([]byte, error) {
	out, _, err := r.DecryptIndexed(dst, ciphertext, tenant, aad)
	return out, err
}

// DecryptIndexed tries the entries in order until one opens the ciphertext,
// appends the plaintext to dst, and returns the extended slice and the entry's
// index. An index other than 0 says that an old key still serves reads.
//
// Only [ErrAuthenticationFailed] moves on to the next entry, so tampering is
// tried with every key; any other error of [Keyring.DecryptAt] ends the search.
// On error dst is returned as it was, and -1.
func (r *Keyring) DecryptIndexed(dst, ciphertext []byte, tenant string, aad []byte) (plaintext []byte, index int, err error) {
	plaintext, index = dst, -1
	err = r.with(func(keys [][]byte) error {
		plaintext, index, err = try(len(keys), func(i int) ([]byte, error) {
			return r.decrypt(dst, keys[i], ciphertext, tenant, aad)
		})
		return err
	})
	return plaintext, index, err
}

// try calls open for the entries 0 to n-1 until one does not fail to
// authenticate. It is the one place that decides what moves on. n is at least 1.
func try(n int, open func(i int) ([]byte, error)) (out []byte, index int, err error) {
	for i := range n {
		out, err = open(i)
		if err == nil {
			return out, i, nil
		}
		if !errors.Is(err, ErrAuthenticationFailed) {
			break
		}
	}
	return out, -1, err
}

// ForTenant derives the tenant's encryption key for every entry once, and
// consumes the ring: its master keys are wiped, whether ForTenant fails or not,
// and it is closed. It fails with [ErrKeyDerivation] for a bad tenant id, with
// the errors of a [Suite], and with [ErrClosed].
func (r *Keyring) ForTenant(tenant string) (*TenantKeyring, error) {
	var entries []tenantEntry
	err := r.with(func(keys [][]byte) error {
		for _, master := range keys {
			key, err := derive(master, tenant)
			if err != nil {
				return err
			}
			a, err := r.suite.aead(key[:])
			entries = append(entries, tenantEntry{a, Fingerprint(key[:])})
			key.Wipe()
			if err != nil {
				return err
			}
		}
		return nil
	})
	r.Close()
	if err != nil {
		return nil, err
	}
	t := new(TenantKeyring)
	t.entries.Store(&entries)
	return t, nil
}

// Close wipes the ring's copies of the keys, after the calls that have started.
// Every other method fails with [ErrClosed] from then on. Go cannot promise
// that there are no further copies: the runtime and the standard library's hash
// states may hold some until the garbage collector takes them.
func (r *Keyring) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring != nil {
		r.ring.wipe()
		r.ring = nil
	}
}

// String returns no byte of a key.
func (r *Keyring) String() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.ring == nil {
		return "Keyring(closed)"
	}
	return fmt.Sprintf("Keyring{entries: %d, keys: %s}", len(r.ring.keys), redacted)
}

// GoString is String.
func (r *Keyring) GoString() string { return r.String() }

// Format prints String, whatever the verb.
func (r *Keyring) Format(f fmt.State, verb rune) { print(f, verb, r.String(), r.GoString()) }
