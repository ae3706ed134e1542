package cachekit

import (
	"slices"
	"unicode/utf8"

	"github.com/cachekit-go/cachekit/core/internal/envelope"
	"github.com/zeebo/xxh3"
)

// Store compresses payload, adds its checksum and the label [DefaultFormat],
// and appends the envelope to dst. It returns the extended slice.
//
// Equal payloads give equal envelopes within one version of this package. The
// block may change between versions, and other implementations write others:
// compare payloads, not envelopes.
//
// If dst has room for the worst case, len(payload) + len(payload)/255 + 64
// bytes, Store allocates nothing; otherwise the block is made in a pooled
// buffer first, so that the result is not held in a slice of the worst size.
// Such a buffer keeps its bytes until it is used again or collected. The spare
// capacity of dst may overlap payload. Store keeps neither.
//
// Store fails with [ErrInputTooLarge] if payload is over [MaxPayload], or its
// block or envelope over [MaxCompressed]: incompressible data very near the
// limit cannot be stored. On error dst is returned as it was.
//
// Spec section 2.
func Store(dst, payload []byte) ([]byte, error) {
	return new(Codec).store(dst, payload, DefaultFormat)
}

// StoreFormat is [Store] with a format label of the caller's, which may be
// empty and of any length. It is not interpreted, but as readers refuse a label
// that is not UTF-8, so does StoreFormat, with [ErrSerializationFailed].
func StoreFormat(dst, payload []byte, format string) ([]byte, error) {
	return new(Codec).store(dst, payload, format)
}

// Store is the function [Store] under the limits and with the label of c.
func (c Codec) Store(dst, payload []byte) ([]byte, error) {
	if c.Format == "" {
		return c.store(dst, payload, DefaultFormat)
	}
	return c.store(dst, payload, c.Format)
}

// StoreFormat is the function [StoreFormat] under the limits of c. An empty
// label stays empty.
func (c Codec) StoreFormat(dst, payload []byte, format string) ([]byte, error) {
	return c.store(dst, payload, format)
}

func (c *Codec) store(dst, payload []byte, format string) ([]byte, error) {
	lim := c.limits()
	if uint64(len(payload)) > lim.payload {
		return dst, ErrInputTooLarge
	}
	// The original's strings cannot be anything else.
	if format != DefaultFormat && !utf8.ValidString(format) {
		return dst, errLabel
	}
	w := writer{lim: lim, size: uint32(len(payload)), format: format}
	if len(payload) < literalsOnly {
		return w.literals(dst, payload)
	}
	// Note: guessing the block's length, instead of compressing elsewhere,
	// spares a copy in the usual case.
	bound := blockBound(len(payload))
	room := uint64(envelope.MaxHeader+bound) + tailBound(format)
	if uint64(len(spare(dst))) < room || overlap(spare(dst), payload) {
		return w.elsewhere(dst, payload, bound)
	}
	return w.inPlace(dst, payload, bound)
}

// errLabel is the one way in which a label is unfit.
var errLabel error = &kindError{kind: ErrSerializationFailed, text: "serialization failed: format label is not valid UTF-8"}

// tailBound returns the most bytes that follow a block.
func tailBound(format string) uint64 { return 1 + 16 + 5 + 5 + uint64(len(format)) }

// A writer makes one envelope.
type writer struct {
	lim    limits
	sum    uint64
	size   uint32
	format string
}

// check applies the limits to an envelope with a block of n bytes.
func (w *writer) check(n int) error {
	// Far from the limit the exact length is not asked for.
	if envelope.MaxHeader+uint64(n)+tailBound(w.format) <= w.lim.compressed {
		return nil
	}
	if uint64(n) > w.lim.compressed || envelope.Len(n, w.sum, w.size, len(w.format)) > w.lim.compressed {
		return ErrInputTooLarge
	}
	return nil
}

// literals appends the envelope of a payload under literalsOnly bytes.
func (w *writer) literals(dst, payload []byte) ([]byte, error) {
	n := literalsLen(len(payload))
	w.sum = xxh3.Hash(payload)
	if err := w.check(n); err != nil {
		return dst, err
	}
	out := slices.Grow(dst, int(envelope.Len(n, w.sum, w.size, len(w.format))))
	start := len(dst) + envelope.HeaderLen(n)
	// The block first: payload may lie where the header or the tail goes.
	putLiterals(out[start:start+n], payload)
	envelope.AppendHeader(out, n)
	return envelope.AppendTail(out[:start+n], w.sum, w.size, w.format), nil
}

// inPlace compresses into the spare capacity of dst, which holds the worst case
// and does not overlap payload.
func (w *writer) inPlace(dst, payload []byte, bound int) ([]byte, error) {
	// Where the block goes depends on its length. Half of the payload is the
	// guess; if its header has another length the block is moved.
	at := len(dst) + envelope.HeaderLen(len(payload)/2)
	room := dst[:cap(dst)]
	n := compressBlock(room[at:at+bound:at+bound], payload)
	w.sum = xxh3.Hash(payload)
	if err := w.check(n); err != nil {
		return dst, err
	}
	if start := len(dst) + envelope.HeaderLen(n); start != at {
		copy(room[start:start+n], room[at:at+n])
		at = start
	}
	envelope.AppendHeader(dst, n)
	return envelope.AppendTail(room[:at+n], w.sum, w.size, w.format), nil
}

// elsewhere compresses into a scratch buffer and appends the result to dst.
func (w *writer) elsewhere(dst, payload []byte, bound int) ([]byte, error) {
	p := scratch(bound)
	defer release(p)
	n := compressBlock(*p, payload)
	w.sum = xxh3.Hash(payload)
	if err := w.check(n); err != nil {
		return dst, err
	}
	// The length fits an int: it is at most MaxCompressed.
	out := slices.Grow(dst, int(envelope.Len(n, w.sum, w.size, len(w.format))))
	return envelope.Append(out, (*p)[:n], w.sum, w.size, w.format), nil
}

// EstimateRatio returns how many times data is longer than the block that
// [Store] would write for it: more than 1 if it compresses, 0 if data is empty.
// It compresses data to find out. It fails with [ErrInputTooLarge] if data is
// over [MaxPayload].
//
// Spec section 2.
func EstimateRatio(data []byte) (float64, error) {
	return Codec{}.EstimateRatio(data)
}

// EstimateRatio is the function [EstimateRatio] under the limits of c.
func (c Codec) EstimateRatio(data []byte) (float64, error) {
	if uint64(len(data)) > c.limits().payload {
		return 0, ErrInputTooLarge
	}
	if len(data) < literalsOnly {
		return float64(len(data)) / float64(literalsLen(len(data))), nil
	}
	p := scratch(blockBound(len(data)))
	defer release(p)
	return float64(len(data)) / float64(compressBlock(*p, data)), nil
}
