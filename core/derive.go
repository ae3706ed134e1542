package cachekit

import (
	"crypto/hkdf"
	"crypto/sha256"
)

// Bounds of key derivation, in bytes, both ends included. See spec section 6.
const (
	MinMasterKeySize  = 16
	MaxDomainSize     = 255
	MaxTenantSaltSize = 1024
)

// The domains that the library derives keys for.
const (
	DomainEncryption     = "encryption"
	DomainAuthentication = "authentication"
	DomainCacheKeys      = "cache_keys"
)

// DefaultTenant is the tenant that clients use if none is configured.
const DefaultTenant = "default"

// saltPrefix begins every HKDF salt.
const saltPrefix = "cachekit_v1_"

// DeriveDomainKey derives the key of a domain and a tenant from a master key:
// HKDF-SHA256 with
//
//	salt = "cachekit_v1_" || u8(len(domain)) || domain || u16be(len(tenantSalt)) || tenantSalt
//	info = domain
//
// The lengths in the salt keep one pair of domain and tenant from reading as
// another. tenantSalt is the tenant id's bytes as a rule. The domain is counted
// in bytes and taken as it is.
//
// The error wraps, in the order of the checks, [ErrInvalidMasterKeyLength]
// (under [MinMasterKeySize]), [ErrInvalidDomain] (empty), [ErrDomainTooLong]
// (over [MaxDomainSize]), [ErrInvalidSaltLength] (empty) or
// [ErrTenantSaltTooLong] (over [MaxTenantSaltSize]); [ErrKeyDerivation] only if
// the standard library refuses, as it may under GODEBUG=fips140=only.
//
// Spec section 6; RFC 5869.
func DeriveDomainKey(master []byte, domain string, tenantSalt []byte) (Key, error) {
	switch {
	case len(master) < MinMasterKeySize:
		return Key{}, shortMaster(len(master))
	case domain == "":
		return Key{}, fail(ErrInvalidDomain, "Invalid domain string: Domain cannot be empty")
	case len(domain) > MaxDomainSize:
		return Key{}, ErrDomainTooLong
	case len(tenantSalt) == 0:
		return Key{}, fail(ErrInvalidSaltLength, "Invalid salt length: expected at least 1 byte, got 0")
	case len(tenantSalt) > MaxTenantSaltSize:
		return Key{}, ErrTenantSaltTooLong
	}
	salt := make([]byte, 0, len(saltPrefix)+1+len(domain)+2+len(tenantSalt))
	salt = append(salt, saltPrefix...)
	salt = append(salt, byte(len(domain)))
	salt = append(salt, domain...)
	salt = append(salt, byte(len(tenantSalt)>>8), byte(len(tenantSalt)))
	salt = append(salt, tenantSalt...)
	okm, err := hkdf.Key(sha256.New, master, salt, domain, KeySize)
	if err != nil {
		return Key{}, because(ErrKeyDerivation, err)
	}
	key := Key(okm)
	wipe(okm)
	return key, nil
}

// shortMaster reports a master key of n bytes.
func shortMaster(n int) error {
	return fail(ErrInvalidMasterKeyLength, "Invalid master key length: expected at least 16 bytes, got %d", n)
}
