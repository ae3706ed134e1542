package cachekit

import (
	"encoding/binary"

	// The protocol's hash, which std does not have.
	"github.com/zeebo/xxh3"
)

// ChecksumSize is the length of a checksum in bytes.
const ChecksumSize = 8

// Checksum returns the checksum that an envelope carries for data: XXH3-64 with
// seed 0, big-endian. It finds corruption, never tampering. data may be empty
// and of any length; no limit applies.
//
// Spec section 1; xxHash specification, XXH3.
func Checksum(data []byte) [ChecksumSize]byte {
	var sum [ChecksumSize]byte
	binary.BigEndian.PutUint64(sum[:], xxh3.Hash(data))
	return sum
}

// VerifyChecksum reports whether sum is the checksum of data. The comparison is
// not in constant time: the checksum is no secret. data may have any length.
//
// Spec section 1.
func VerifyChecksum(data []byte, sum [ChecksumSize]byte) bool {
	return xxh3.Hash(data) == binary.BigEndian.Uint64(sum[:])
}
