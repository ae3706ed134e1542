// Package gcm owns AES-256-GCM under nonces that never repeat: the cipher of a
// key, the sequence that gives the nonces, and where a nonce goes. It binds no
// sequence to a key; package cachekit does, and the C interface does not.
package gcm

import (
	"crypto/aes"
	"crypto/cipher"
	"slices"
)

const (
	NonceSize = 12 // bytes
	TagSize   = 16 // bytes
	Overhead  = NonceSize + TagSize

	// MaxPlaintext is the most bytes that AES-GCM seals under one nonce.
	// NIST SP 800-38D, section 5.2.1.1.
	MaxPlaintext = (1<<32 - 2) * aes.BlockSize
)

// New returns the standard library's AES-GCM for a key of 32 bytes. It fails if
// the standard library refuses, as it does under GODEBUG=fips140=only.
func New(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Seal appends nonce || ciphertext || tag to dst, with the next nonce of q. The
// spare capacity of dst must not overlap plaintext or aad, and plaintext has
// MaxPlaintext bytes at most. It returns dst and false if q is exhausted.
func Seal(a cipher.AEAD, q *Sequence, dst, plaintext, aad []byte) ([]byte, bool) {
	out := slices.Grow(dst, len(plaintext)+Overhead)
	// The nonce goes where it belongs at once: a slice of an array would
	// escape through the interface and cost an allocation.
	nonce := out[len(dst) : len(dst)+NonceSize]
	if !q.put(nonce) {
		return dst, false
	}
	return a.Seal(out[:len(dst)+NonceSize], nonce, plaintext, aad), true
}
