package floe

import (
	"errors"
	"fmt"
	"math"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// Kinds of errors; test for them with [errors.Is], also through io adapters. An
// error about a length is a [*LengthError] that wraps its kind. Spec section 7.
var (
	// ErrKeyLength is a key of other than [KeySize] bytes, or a [Key] that was
	// destroyed or never made.
	ErrKeyLength = errors.New("floe: key length")
	// ErrSegmentLength is a segment length outside [MinSegmentLen] to
	// [MaxSegmentLen].
	ErrSegmentLength = errors.New("floe: segment length")
	// ErrParamsMismatch is a [Segment] or a buffer of other parameters than the
	// message's, or the zero value of [Params], [Layout] or [Segment].
	ErrParamsMismatch = errors.New("floe: parameters do not belong to the message")
	// ErrHeaderLength is a header of other than [HeaderSize] bytes.
	ErrHeaderLength = errors.New("floe: header length")
	// ErrHeaderParams is a header whose parameters are not supported, or not
	// those required.
	ErrHeaderParams = message.ErrHeaderParams
	// ErrHeaderTag is a header that this key and additional data did not make.
	ErrHeaderTag = message.ErrHeaderTag
	// ErrPlaintextLength is a plaintext that does not fit its segment.
	ErrPlaintextLength = errors.New("floe: plaintext length")
	// ErrCiphertextLength is a segment that is too short or too long, or whose
	// prefix says another length than it has.
	ErrCiphertextLength = errors.New("floe: ciphertext length")
	// ErrSegmentPrefix is a segment that is not the last and does not begin
	// with ff ff ff ff.
	ErrSegmentPrefix = errors.New("floe: segment does not have the prefix of one that others follow")
	// ErrAuthentication is a segment that was changed, or that does not belong
	// to this message or to this place in it.
	ErrAuthentication = message.ErrAuthentication
	// ErrClosed is the use of a message after its final segment, or of anything
	// after its Close.
	ErrClosed = message.ErrClosed
	// ErrTruncated is a message that ends without its final segment.
	ErrTruncated = errors.New("floe: message ends before its final segment")
	// ErrSegmentLimit is a message of more than 2^40 segments.
	ErrSegmentLimit = message.ErrSegmentLimit
	// ErrOutputLength is a buffer of the caller's without room for the result.
	ErrOutputLength = errors.New("floe: output length")
	// ErrBufferState is a segment buffer that holds the other of plaintext and
	// ciphertext, or nothing.
	ErrBufferState = errors.New("floe: segment buffer is not prepared for this")
	// ErrOverflow is a length that does not fit its type.
	ErrOverflow = errors.New("floe: length does not fit")
	// ErrRandomness is a source of randomness that failed. The one that is used
	// by default never does.
	ErrRandomness = message.ErrRandomness
	// ErrTrailingData is data after the final segment where the end was asked
	// for.
	ErrTrailingData = errors.New("floe: data after the final segment")
	// ErrPoisoned is the use of an io adapter after an error, which is wrapped
	// as well.
	ErrPoisoned = errors.New("floe: used after an error")
	// ErrRange is an offset, a segment number or a range that the plaintext
	// does not have.
	ErrRange = errors.New("floe: outside the plaintext")
	// ErrOverlap is a destination whose room overlaps an input elsewhere than
	// is allowed.
	ErrOverlap = errors.New("floe: output overlaps an input")
	// ErrAEAD is an AEAD that could not be made or does not suit the format, as
	// the standard library's under GODEBUG=fips140=only.
	ErrAEAD = message.ErrAEAD
)

// A LengthError is a length outside its bounds, in bytes.
type LengthError struct {
	Kind     error  // one of the errors whose name ends in Length
	Actual   uint64 // the length met
	Min, Max uint64 // the bounds, inclusive; Max is math.MaxUint64 if there is none
}

// Error gives the length and its bounds.
func (e *LengthError) Error() string {
	want := ""
	switch {
	case e.Min == e.Max:
		want = fmt.Sprintf("exactly %d", e.Min)
	case e.Max == math.MaxUint64:
		want = fmt.Sprintf("at least %d", e.Min)
	case e.Min == 0:
		want = fmt.Sprintf("at most %d", e.Max)
	default:
		want = fmt.Sprintf("between %d and %d", e.Min, e.Max)
	}
	return fmt.Sprintf("%v: got %d bytes, want %s", e.Kind, e.Actual, want)
}

// Unwrap returns the kind.
func (e *LengthError) Unwrap() error { return e.Kind }

func exactly(kind error, actual, want uint64) error {
	return &LengthError{Kind: kind, Actual: actual, Min: want, Max: want}
}

func atLeast(kind error, actual, want uint64) error {
	return &LengthError{Kind: kind, Actual: actual, Min: want, Max: math.MaxUint64}
}

func atMost(kind error, actual, want uint64) error {
	return &LengthError{Kind: kind, Actual: actual, Max: want}
}

func between(kind error, actual, low, high uint64) error {
	return &LengthError{Kind: kind, Actual: actual, Min: low, Max: high}
}

// poisoned is what an adapter answers after its first error.
func poisoned(first error) error { return fmt.Errorf("%w: %w", ErrPoisoned, first) }
