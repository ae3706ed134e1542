package cachekit

import (
	"slices"

	"github.com/cachekit-go/cachekit/core/internal/envelope"
	"github.com/cachekit-go/cachekit/core/internal/lz4block"
	"github.com/zeebo/xxh3"
)

// Retrieve checks an envelope made by [Store], decompresses it and appends the
// payload to dst. It returns the extended slice and the format label.
//
// Nothing is allocated on the envelope's word alone: structure, claimed size
// and ratio are checked first, and if dst lacks the room the block is walked to
// its end before dst grows, by what the block really holds. A legacy envelope,
// whose block is an array of integers, also takes a copy of the block.
//
// Retrieve accepts what the protocol has, in any width of header and encoding
// of integer, and ignores bytes behind the envelope; see [Codec] for the strict
// way. If dst has room for the payload and the label is [DefaultFormat] it
// allocates nothing. The spare capacity of dst may overlap env, and holds
// anything after an error; dst itself is then returned as it was.
//
// The error wraps, in the order of the checks, [ErrInputTooLarge] for the
// envelope, [ErrDeserializationFailed], ErrInputTooLarge for the block and the
// claimed size, [ErrDecompressionBomb], [ErrDecompressionFailed],
// [ErrChecksumMismatch] or [ErrSizeValidationFailed]. XXH3-64 finds corruption,
// not tampering: for data that an attacker can write, open a sealed envelope
// with [Encryptor.Open] first. The payload is as untrusted as the envelope: see
// [CheckStructure].
//
// Spec section 2.
func Retrieve(dst, env []byte) (payload []byte, format string, err error) {
	return new(Codec).retrieve(dst, env)
}

// Retrieve is the function [Retrieve] under the limits of c and, if c is
// strict, refuses bytes behind the envelope with [ErrDeserializationFailed].
func (c Codec) Retrieve(dst, env []byte) (payload []byte, format string, err error) {
	return c.retrieve(dst, env)
}

// Validate reports whether [Retrieve] would succeed. It does the same work but
// for growing a slice: it is not cheap.
//
// Spec section 2.
func Validate(env []byte) bool { return Codec{}.Validate(env) }

// Validate is the function [Validate] under the limits of c.
func (c Codec) Validate(env []byte) bool {
	e, err := c.open(env)
	if err != nil {
		return false
	}
	block := e.Block()
	n, ok := lz4block.Len(block, int(e.Size))
	if !ok {
		return false
	}
	p := scratch(n)
	defer release(p)
	_, err = decode(*p, block, &e)
	return err == nil
}

func (c *Codec) retrieve(dst, env []byte) (payload []byte, format string, err error) {
	e, err := c.open(env)
	if err != nil {
		return dst, "", err
	}
	block, size := e.Block(), int(e.Size)

	// Steps 6 to 9.
	if len(spare(dst)) >= size && !overlap(spare(dst)[:size], env) {
		n, err := decode(spare(dst)[:size], block, &e)
		if err != nil {
			return dst, "", err
		}
		return dst[:len(dst)+n], label(e.Format), nil
	}
	format = label(e.Format) // before env may be overwritten
	if payload, err = extract(dst, env, block, &e); err != nil {
		return dst, "", err
	}
	return payload, format, nil
}

// extract does steps 6 to 9 where dst lacks the room or shares it with in, which
// block may lie in: dst grows by what the block holds.
func extract(dst, in, block []byte, e *envelope.Envelope) ([]byte, error) {
	n, ok := lz4block.Len(block, int(e.Size))
	if !ok {
		return dst, ErrDecompressionFailed
	}
	out := slices.Grow(dst, n)
	if !overlap(spare(out)[:n], in) {
		if _, err := decode(spare(out)[:n], block, e); err != nil {
			return dst, err
		}
		return out[:len(dst)+n], nil
	}
	p := scratch(n)
	defer release(p)
	if _, err := decode(*p, block, e); err != nil {
		return dst, err
	}
	return append(dst, *p...), nil
}

// open does steps 1 to 5: all checks that come before the block is looked at.
func (c *Codec) open(env []byte) (e envelope.Envelope, err error) {
	lim := c.limits()
	if uint64(len(env)) > lim.compressed {
		return e, ErrInputTooLarge
	}
	if e, err = envelope.Parse(env); err != nil {
		return e, malformed(env, err)
	}
	if c.Strict && e.Len != len(env) {
		return e, fail(ErrDeserializationFailed, "deserialization failed: %d bytes behind the envelope at byte %d", len(env)-e.Len, e.Len)
	}
	return e, lim.admit(uint64(e.BlockLen()), uint64(e.Size))
}

// malformed returns the error for an envelope that Parse refuses. Step 2a comes
// before 2b: a document with a structural fault is refused for that.
//
// Note: to run step 2a alone, before all else, was a third of Retrieve's
// instructions at 64 bytes, and found nothing in what Parse then accepts.
func malformed(env []byte, cause error) error {
	if n, f := envelope.Scan(env, MaxDepth); f != 0 {
		cause = structureError(n, f, MaxDepth)
		return &kindError{ErrDeserializationFailed, cause, "deserialization failed: decode pre-scan: " + cause.Error()}
	}
	return because(ErrDeserializationFailed, cause)
}

// decode does steps 6 to 9: it decodes block into out, which is at most as long
// as the claimed size, and returns the length of the payload. A short output
// fails as late as step 9, behind the checksum.
func decode(out, block []byte, e *envelope.Envelope) (int, error) {
	n, ok := lz4block.Decode(out, block)
	if !ok {
		return 0, ErrDecompressionFailed
	}
	if xxh3.Hash(out[:n]) != e.Checksum {
		return 0, ErrChecksumMismatch
	}
	if n != int(e.Size) {
		return 0, ErrSizeValidationFailed
	}
	return n, nil
}

// label returns a format label, without allocating if it is the default.
func label(b []byte) string {
	if string(b) == DefaultFormat {
		return DefaultFormat
	}
	return string(b)
}
