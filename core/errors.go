package cachekit

//lint:file-ignore ST1005 the texts are the protocol's

import (
	"errors"
	"fmt"
)

// Kinds of envelope errors; test for them with [errors.Is]. The texts are those
// of spec section 2. An error of the kinds SerializationFailed and
// DeserializationFailed says more than its kind.
var (
	// ErrInputTooLarge is a payload, block or envelope over its limit.
	ErrInputTooLarge = errors.New("input exceeds maximum size")
	// ErrDecompressionBomb is an empty block, or a claimed size that is too
	// many times the block's.
	ErrDecompressionBomb = errors.New("decompression ratio exceeds safety limit")
	// ErrChecksumMismatch is a payload that is not the stored one.
	ErrChecksumMismatch = errors.New("integrity check failed")
	// ErrCompressionFailed is a compressor that made no block. Ours always
	// makes one; the kind is the protocol's.
	ErrCompressionFailed = errors.New("compression failed")
	// ErrDecompressionFailed is a block that breaks a rule of the format or
	// does not fit the claimed size.
	ErrDecompressionFailed = errors.New("decompression failed")
	// ErrSizeValidationFailed is a sound payload shorter than the claimed size.
	ErrSizeValidationFailed = errors.New("size validation failed")
	// ErrSerializationFailed is a label that no reader would accept.
	ErrSerializationFailed = errors.New("serialization failed")
	// ErrDeserializationFailed is a document that is no envelope. If it is not
	// even well-formed, a [*StructureError] is wrapped too.
	ErrDeserializationFailed = errors.New("deserialization failed")
)

// Kinds of encryption and key errors; test for them with [errors.Is]. The texts
// are those of spec sections 5 and 6, with the lengths in question filled in.
var (
	// ErrInvalidKeyLength is an encryption key of other than [KeySize] bytes.
	ErrInvalidKeyLength = errors.New("Invalid key length")
	// ErrInvalidNonceLength is an AEAD that does not take 12-byte nonces.
	ErrInvalidNonceLength = errors.New("Invalid nonce length")
	// ErrEncryptionFailed is an AEAD that could not be made or is unsuitable,
	// or a plaintext longer than AES-GCM can seal.
	ErrEncryptionFailed = errors.New("Encryption failed")
	// ErrInvalidCiphertext is a ciphertext shorter than [Overhead].
	ErrInvalidCiphertext = errors.New("Invalid ciphertext format")
	// ErrAuthenticationFailed is a ciphertext that this key and additional data
	// do not open: tampering and a wrong key look the same.
	ErrAuthenticationFailed = errors.New("Authentication verification failed")
	// ErrNonceCounterExhausted is an [Encryptor] that has sealed all it may.
	// It stays exhausted.
	ErrNonceCounterExhausted = errors.New("Nonce counter exhausted - key rotation required")
	// ErrInvalidMasterKeyLength is a master key shorter than [MinMasterKeySize].
	ErrInvalidMasterKeyLength = errors.New("Invalid master key length")
	// ErrInvalidDomain is an empty domain.
	ErrInvalidDomain = errors.New("Invalid domain string")
	// ErrDomainTooLong is a domain longer than [MaxDomainSize].
	ErrDomainTooLong = errors.New("Domain exceeds maximum length")
	// ErrInvalidSaltLength is an empty tenant salt or tenant id.
	ErrInvalidSaltLength = errors.New("Invalid salt length")
	// ErrTenantSaltTooLong is a tenant salt longer than [MaxTenantSaltSize].
	ErrTenantSaltTooLong = errors.New("Tenant salt exceeds maximum length")
	// ErrKeyringCapExceeded is more than [MaxDecryptOnlyKeys] old keys.
	ErrKeyringCapExceeded = errors.New("Keyring cap exceeded")
	// ErrCurrentKeyInDecryptOnlyList is a current key that is also an old one.
	ErrCurrentKeyInDecryptOnlyList = errors.New("Current key must not appear in the decrypt-only list (forward-only rotation invariant)")
	// ErrKeyringIndexOutOfRange is an index that no entry of the ring has.
	ErrKeyringIndexOutOfRange = errors.New("Keyring entry index out of range")
	// ErrKeyDerivation is a derivation that failed inside a keyring. The error
	// of [DeriveDomainKey] is wrapped too.
	ErrKeyDerivation = errors.New("Key derivation failed")
	// ErrClosed is the use of an encryptor or a ring after its Close, or of a
	// [Keyring] after [Keyring.ForTenant].
	ErrClosed = errors.New("cachekit: used after Close")
)

// A kindError is an error of a kind whose text the kind alone does not give.
type kindError struct {
	kind  error // the sentinel
	cause error // may be nil
	text  string
}

func (e *kindError) Error() string { return e.text }

func (e *kindError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

// fail returns an error of the kind whose text is formatted.
func fail(kind error, format string, args ...any) error {
	return &kindError{kind: kind, text: fmt.Sprintf(format, args...)}
}

// because returns an error of the kind whose text is the kind's and the cause's.
func because(kind, cause error) error {
	return &kindError{kind: kind, cause: cause, text: kind.Error() + ": " + cause.Error()}
}
