// Package message owns what the cipher does for one FLOE message: the key
// schedule, the nonces, and the sealing and opening of a segment at a position.
// It trusts its callers with lengths, with the order of segments and with the
// rule that each position is sealed once: those are package floe's and package
// lowlevel's, which both stand on it.
package message

import "errors"

// The fixed sizes of the format, in bytes. Spec section 1.
const (
	KeySize    = 32
	IVSize     = 32
	NonceSize  = 12
	TagSize    = 16
	PrefixSize = 4

	// ParamsSize is the length of the encoded parameters.
	ParamsSize = 10
	// HeaderSize is the length of parameters, IV and header tag.
	HeaderSize = ParamsSize + IVSize + headerTagSize
	// PayloadOffset is where the ciphertext of a segment starts.
	PayloadOffset = PrefixSize + NonceSize
	// Overhead is by how much a segment is longer than its plaintext.
	Overhead = PayloadOffset + TagSize

	headerTagSize  = 32
	messageKeySize = 48
)

const (
	// MaxSegments is how many segments a message has at most.
	MaxSegments = 1 << 40
	// RotationBits says that 2^RotationBits segments share a key.
	RotationBits = 20
	// NonFinal is the prefix of all segments but the last.
	NonFinal = 1<<32 - 1

	// MinSegmentLen and MaxSegmentLen bound the length of a full segment.
	MinSegmentLen = 64
	MaxSegmentLen = NonFinal - 1
)

// Kinds of errors; package floe has them under the same names, and says more.
var (
	ErrHeaderParams   = errors.New("floe: header parameters are unsupported or not the required ones")
	ErrHeaderTag      = errors.New("floe: header authentication failed")
	ErrAuthentication = errors.New("floe: segment authentication failed")
	ErrSegmentLimit   = errors.New("floe: a message has 2^40 segments at most")
	ErrClosed         = errors.New("floe: used after the end")
	ErrRandomness     = errors.New("floe: the source of randomness failed")
	ErrAEAD           = errors.New("floe: the AEAD cannot be used")
)
