// Package cachekit turns cache entries into bytes and back: it compresses a
// payload into a checksummed envelope, encrypts it, derives the keys for that,
// and opens what older keys have sealed. Bytes go in and bytes come out; where
// they are kept is the caller's business.
//
// # Envelope
//
// [Store] writes and [Retrieve] reads a MessagePack array of four:
//
//	94                 array of 4
//	c4 nn | c5 nnnn | c6 nnnnnnnn   block: bin, shortest header, then the bytes
//	98 ...             checksum: array of 8 unsigned integers
//	...                payload length in bytes: unsigned integer, shortest form
//	a7 "msgpack"       format label: str, shortest header
//
// The block is one LZ4 block, without frame or size. The checksum is XXH3-64 of
// the payload, most significant byte first, each byte in its shortest form. For
// the 16 bytes "hello, cachekit!" the envelope has 42:
//
//	94 c4 12 f0 01 68656c6c6f2c2063616368656b697421
//	98 6d cc8a 34 ccb6 3a 3c 52 ccd3  10  a7 6d73677061636b
//
// Older writers gave the block as an array of integers, one for each byte; that
// form is read too.
//
// An [Envelope] has the parts, for who needs them one by one.
//
// Envelopes are untrusted. Retrieve walks the whole document first
// ([CheckStructure]), then applies the limits ([MaxPayload], [MaxCompressed],
// [MaxRatio]), and grows nothing before it has done both. The checksum finds
// corruption, not tampering: seal what others can write.
//
// # Encryption
//
// An [Encryptor] seals with AES-256-GCM under one key:
//
//	nonce (12) || ciphertext || tag (16)
//	nonce = instance id (8) || counter (4), both big-endian
//
// Keys come from a master key by [DeriveDomainKey] or [DeriveTenantKeys]. A
// [Keyring] opens entries across a change of the master key. [AAD3] makes the
// additional data that other clients of the protocol use.
//
// # Conventions
//
// Functions take dst first, append their result to it and return the extended
// slice, like the append built in; dst may be nil. On error they return dst as
// it was. Inputs are not kept or written to, unless the spare capacity of dst
// overlaps them, which is allowed everywhere. Package functions are safe for
// concurrent use, as are [Encryptor], [Keyring] and [TenantKeyring].
//
// Errors have the texts of the protocol and are told apart with [errors.Is]. No
// error holds a byte of a key or a payload.
//
// # Secrets in memory
//
// Close wipes what keys a type holds, and unreachable ones are wiped by the
// garbage collector at some time, if the process lives that long. Go cannot
// promise more: the runtime may have made copies, and the standard library's
// cipher and hash states cannot be overwritten from outside. Pooled buffers
// hold blocks and payloads until they are used again or collected. None of this
// protects against who can read the process's memory.
package cachekit
