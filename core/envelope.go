package cachekit

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/cachekit-go/cachekit/core/internal/envelope"
)

// An Envelope is what an envelope holds, for those who look at it without the
// payload or keep the parts elsewhere. [Store] and [Retrieve] do without.
//
// It is a value: copies share Block. Its methods may be called from any number
// of goroutines while no one changes it.
type Envelope struct {
	Block    []byte             // one LZ4 block, neither framed nor sized
	Checksum [ChecksumSize]byte // of the payload
	Size     uint32             // of the payload in bytes, as the writer claims it
	Format   string             // label of the payload's encoding
}

// NewEnvelope compresses payload into an envelope of its own memory. The label
// may be empty. Its errors are those of [StoreFormat].
//
// Spec section 2.
func NewEnvelope(payload []byte, format string) (Envelope, error) {
	env, err := StoreFormat(nil, payload, format)
	if err != nil {
		return Envelope{}, err
	}
	return ParseEnvelope(env)
}

// ParseEnvelope reads the envelope at the start of env, as [Retrieve] does, and
// checks its structure: what it holds is what the writer claims until Extract
// has checked that too. Bytes behind the envelope are ignored.
//
// Block aliases env unless that has the legacy form, an array of integers.
//
// The error wraps [ErrInputTooLarge] if env is over [MaxCompressed], or
// [ErrDeserializationFailed].
//
// Spec section 2, steps 1 and 2.
func ParseEnvelope(env []byte) (Envelope, error) {
	if uint64(len(env)) > MaxCompressed {
		return Envelope{}, ErrInputTooLarge
	}
	p, err := envelope.Parse(env)
	if err != nil {
		return Envelope{}, malformed(env, err)
	}
	e := Envelope{Block: p.Block(), Size: p.Size, Format: label(p.Format)}
	binary.BigEndian.PutUint64(e.Checksum[:], p.Checksum)
	return e, nil
}

// EncodedLen returns the exact length in bytes of the encoded envelope. It is
// computed from the lengths of the parts and costs next to nothing.
func (e *Envelope) EncodedLen() int { return int(e.encodedLen()) }

func (e *Envelope) encodedLen() uint64 {
	return envelope.Len(len(e.Block), e.sum(), e.Size, len(e.Format))
}

// sum returns the checksum as the number that it is.
func (e *Envelope) sum() uint64 { return binary.BigEndian.Uint64(e.Checksum[:]) }

// EncodeInto encodes the envelope into buf, which must have just the length that
// EncodedLen returns and must not overlap Block. The parts are not checked
// against each other. It allocates nothing.
//
// It fails with [ErrInputTooLarge] if the envelope is over [MaxCompressed], and
// with [ErrSerializationFailed] if buf has another length or the label is not
// UTF-8, which no reader would accept. On error buf is as it was.
//
// Spec section 2.
func (e *Envelope) EncodeInto(buf []byte) error {
	n := e.encodedLen()
	if n > MaxCompressed {
		return ErrInputTooLarge
	}
	if uint64(len(buf)) != n {
		return fail(ErrSerializationFailed, "serialization failed: output buffer is %d bytes, the envelope encodes to %d", len(buf), n)
	}
	if !utf8.ValidString(e.Format) {
		return errLabel
	}
	envelope.Append(buf[:0], e.Block, e.sum(), e.Size, e.Format)
	return nil
}

// Extract decompresses Block and appends the payload to dst, after the checks
// of [Retrieve] that do not depend on the encoding. It returns the extended
// slice. The spare capacity of dst may overlap Block.
//
// dst grows by what the block really holds, and not before limits and ratio are
// checked. For lower limits compare Size and len(Block) with them first, or use
// a [Codec].
//
// The error is, in the order of the checks, [ErrInputTooLarge],
// [ErrDecompressionBomb], [ErrDecompressionFailed], [ErrChecksumMismatch] or
// [ErrSizeValidationFailed]. On error dst is returned as it was.
//
// Spec section 2, steps 3 to 9.
func (e *Envelope) Extract(dst []byte) ([]byte, error) {
	lim := new(Codec).limits()
	if err := lim.admit(uint64(len(e.Block)), uint64(e.Size)); err != nil {
		return dst, err
	}
	return extract(dst, e.Block, e.Block, &envelope.Envelope{Checksum: e.sum(), Size: e.Size})
}
