package cachekit

import "encoding/binary"

// AAD3 appends additional data of version 0x03, which clients bind a ciphertext
// to its place with, to dst and returns the extended slice:
//
//	03 || for each part: u32be(length) || bytes
//
// The parts are the tenant id, the cache key, the format label, "True" or
// "False" for compressed, and the original type unless it is empty. Clients
// without a tenant use [DefaultTenant]; AAD3 takes what it is given. It panics
// if a part is 4 GiB or longer.
//
// Spec section 5.
func AAD3(dst []byte, tenant, cacheKey, format string, compressed bool, originalType string) []byte {
	dst = append(dst, 0x03)
	dst = appendPart(dst, tenant)
	dst = appendPart(dst, cacheKey)
	dst = appendPart(dst, format)
	if compressed {
		dst = appendPart(dst, "True")
	} else {
		dst = appendPart(dst, "False")
	}
	if originalType != "" {
		dst = appendPart(dst, originalType)
	}
	return dst
}

func appendPart(dst []byte, s string) []byte {
	if uint64(len(s)) >= 1<<32 {
		panic("cachekit: AAD3 part of 4 GiB or more")
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}
