package cachekit

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cachekit-go/cachekit/core/internal/gcm"
)

// Overhead is the number of bytes by which a ciphertext is longer than its
// plaintext, and the length of the shortest ciphertext: 12 of the nonce and 16
// of the tag.
const Overhead = gcm.Overhead

// A Suite makes encryptors and rings with a cipher of the caller's, for example
// one that a hardware module or an audited library provides. The zero value
// uses the standard library's AES-256-GCM, and is what [NewEncryptor] and
// [NewKeyring] use.
type Suite struct {
	// AEAD returns the cipher for a key of KeySize bytes; nil means the
	// standard library's AES-256-GCM. Its nonces must have 12 bytes and its
	// tags 16. It must not keep key, which may be wiped when it returns, and
	// the cipher must be safe for concurrent use, as the standard library's is.
	AEAD func(key []byte) (cipher.AEAD, error)
}

// aead returns the cipher for key. It fails with ErrInvalidKeyLength,
// ErrInvalidNonceLength or ErrEncryptionFailed.
func (s Suite) aead(key []byte) (cipher.AEAD, error) {
	if len(key) != KeySize {
		return nil, fail(ErrInvalidKeyLength, "Invalid key length: expected 32 bytes, got %d", len(key))
	}
	make := s.AEAD
	if make == nil {
		make = gcm.New
	}
	a, err := make(key)
	if err != nil {
		return nil, because(ErrEncryptionFailed, err)
	}
	if a == nil {
		return nil, because(ErrEncryptionFailed, errors.New("no AEAD"))
	}
	if n := a.NonceSize(); n != gcm.NonceSize {
		return nil, fail(ErrInvalidNonceLength, "Invalid nonce length: expected 12 bytes, got %d", n)
	}
	if n := a.Overhead(); n != gcm.TagSize {
		return nil, fail(ErrEncryptionFailed, "Encryption failed: AEAD with tags of %d bytes, expected 16", n)
	}
	return a, nil
}

// An Encryptor seals and opens with one key by AES-256-GCM. A ciphertext is
//
//	nonce (12 bytes) || ciphertext (as long as the plaintext) || tag (16 bytes)
//
// and the nonce is the encryptor's instance id and a counter. Instance ids
// count the encryptors of the process from a random start, so encryptors with
// one key do not repeat each other's nonces. There is no way to pass a nonce.
//
// An Encryptor is safe for concurrent use and must not be copied.
//
// Spec section 5; NIST SP 800-38D.
type Encryptor struct {
	_     noCopy
	aead  atomic.Pointer[cipher.AEAD] // nil once closed
	nonce *gcm.Sequence
}

// NewEncryptor returns an encryptor for a key of [KeySize] bytes. The key is
// expanded once, here, and not kept. It fails with [ErrInvalidKeyLength], and
// under GODEBUG=fips140=only with [ErrEncryptionFailed]: that mode admits no
// nonces but the standard library's own.
//
// Spec section 5.
func NewEncryptor(key []byte) (*Encryptor, error) { return Suite{}.NewEncryptor(key) }

// NewEncryptor is the function [NewEncryptor] with the cipher of s. It also
// fails with [ErrEncryptionFailed] or [ErrInvalidNonceLength] if that is
// unsuitable.
func (s Suite) NewEncryptor(key []byte) (*Encryptor, error) {
	a, err := s.aead(key)
	if err != nil {
		return nil, err
	}
	e := &Encryptor{nonce: gcm.NewSequence()}
	e.aead.Store(&a)
	return e, nil
}

// Seal encrypts plaintext, authenticates it together with aad, and appends the
// ciphertext to dst. It returns the extended slice. plaintext and aad may be
// empty. Every call uses a new nonce, so equal plaintexts give different
// ciphertexts.
//
// If dst has room for len(plaintext) + [Overhead] bytes, Seal allocates
// nothing, unless that room overlaps plaintext or aad: then it seals in a
// buffer of its own first.
//
// It fails with [ErrNonceCounterExhausted] after 2^32 - 1 calls, for good;
// with [ErrEncryptionFailed] if plaintext is over 64 GiB; and with [ErrClosed].
// On error dst is returned as it was.
func (e *Encryptor) Seal(dst, plaintext, aad []byte) ([]byte, error) {
	a := e.aead.Load()
	if a == nil {
		return dst, ErrClosed
	}
	if uint64(len(plaintext)) > gcm.MaxPlaintext {
		return dst, fail(ErrEncryptionFailed, "Encryption failed: plaintext of %d bytes is too long", len(plaintext))
	}
	n := len(plaintext) + Overhead
	if room := spare(dst); len(room) >= n && (overlap(room[:n], plaintext) || overlap(room[:n], aad)) {
		tmp, err := e.seal(*a, nil, plaintext, aad)
		if err != nil {
			return dst, err
		}
		return append(dst, tmp...), nil
	}
	return e.seal(*a, dst, plaintext, aad)
}

// seal appends a ciphertext to dst, whose spare capacity overlaps nothing.
func (e *Encryptor) seal(a cipher.AEAD, dst, plaintext, aad []byte) ([]byte, error) {
	out, ok := gcm.Seal(a, e.nonce, dst, plaintext, aad)
	if !ok {
		return dst, ErrNonceCounterExhausted
	}
	return out, nil
}

// Open checks and decrypts a ciphertext made by [Encryptor.Seal], of this or
// another encryptor with the same key, and appends the plaintext to dst. It
// returns the extended slice. aad must be what it was sealed with.
//
// If dst has room for the plaintext, Open allocates nothing, unless that room
// overlaps ciphertext or aad: then it opens in a buffer of its own first and
// wipes it.
//
// It fails with [ErrInvalidCiphertext] if ciphertext is shorter than
// [Overhead], [ErrAuthenticationFailed] or [ErrClosed]. On error dst is
// returned as it was; its spare capacity holds no plaintext, unless a cipher of
// the caller's left it there.
func (e *Encryptor) Open(dst, ciphertext, aad []byte) ([]byte, error) {
	a := e.aead.Load()
	if a == nil {
		return dst, ErrClosed
	}
	return open(*a, dst, ciphertext, aad)
}

// errShort is the one way in which a ciphertext is malformed.
var errShort error = &kindError{kind: ErrInvalidCiphertext, text: "Invalid ciphertext format: Ciphertext too short"}

// open appends the plaintext of a ciphertext to dst.
func open(a cipher.AEAD, dst, ciphertext, aad []byte) ([]byte, error) {
	if len(ciphertext) < Overhead {
		return dst, errShort
	}
	nonce, sealed := ciphertext[:gcm.NonceSize], ciphertext[gcm.NonceSize:]
	n := len(ciphertext) - Overhead
	if room := spare(dst); len(room) >= n && (overlap(room[:n], ciphertext) || overlap(room[:n], aad)) {
		tmp, err := a.Open(nil, nonce, sealed, aad)
		if err != nil {
			return dst, ErrAuthenticationFailed
		}
		dst = append(dst, tmp...)
		wipe(tmp)
		return dst, nil
	}
	out, err := a.Open(dst, nonce, sealed, aad)
	if err != nil {
		return dst, ErrAuthenticationFailed
	}
	return out, nil
}

// Counter returns the number of nonces asked for so far, failed calls included.
func (e *Encryptor) Counter() uint64 { return e.nonce.Counter() }

// InstanceID returns the number that the encryptor's nonces start with.
func (e *Encryptor) InstanceID() uint64 { return e.nonce.Instance() }

// Close lets go of the expanded key; Seal and Open fail with [ErrClosed] from
// then on. Calls that have started finish. The expanded key lies inside the
// standard library and cannot be overwritten from here: it goes when the
// garbage collector takes it.
func (e *Encryptor) Close() { e.aead.Store(nil) }

// String returns the instance id and no byte of the key.
func (e *Encryptor) String() string {
	return fmt.Sprintf("Encryptor{instance: %d, counter: %d, key: %s}", e.InstanceID(), e.Counter(), redacted)
}

// GoString is String.
func (e *Encryptor) GoString() string { return e.String() }

// Format prints String, whatever the verb.
func (e *Encryptor) Format(f fmt.State, verb rune) { print(f, verb, e.String(), e.GoString()) }
