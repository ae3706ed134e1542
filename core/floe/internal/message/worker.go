package message

import (
	"crypto/cipher"
	"encoding/binary"
	"unsafe"
)

// nonceBatch is how many nonces a worker draws at once, in the end.
const nonceBatch = 256

// A Worker seals and opens segments of a message, with nonces of its own. A
// message may have many, but a worker is not safe for concurrent use.
type Worker struct {
	m    *Message
	aead cipher.AEAD // of the positions from base on; nil before the first
	base uint64
	mask uint64
	aad  [9]byte // here, since an array on the stack would escape

	batch  []byte // room for nonces; made at the first
	nonces []byte // what is left of the batch
	room   int    // how many nonces the batch has at most
	draw   int    // how many the next draw has
}

// NewWorker returns a worker that will seal expect segments. If that is not
// known it is 0, and the first draws are small: most messages are short, and
// 256 nonces take longer than a short segment. A worker that only opens draws
// none.
func (m *Message) NewWorker(expect uint64) *Worker {
	w := &Worker{m: m, mask: m.mask(), room: nonceBatch, draw: 1}
	if expect > 0 {
		w.room = int(min(expect, nonceBatch))
		w.draw = w.room
	}
	return w
}

// nonce writes a nonce that was never used to b.
func (w *Worker) nonce(b []byte) error {
	if len(w.nonces) == 0 {
		if w.batch == nil {
			w.batch = make([]byte, w.room*NonceSize)
		}
		n := w.draw * NonceSize
		if err := w.m.random(w.batch[:n]); err != nil {
			return err
		}
		w.nonces = w.batch[:n]
		if w.draw == 1 {
			w.draw = min(8, w.room)
		} else {
			w.draw = w.room
		}
	}
	copy(b, w.nonces[:NonceSize])
	w.nonces = w.nonces[NonceSize:]
	return nil
}

// begin sets the cipher and the additional data for a segment.
func (w *Worker) begin(position uint64, final bool) error {
	if w.m.closed.Load() {
		return ErrClosed
	}
	if position >= MaxSegments {
		return ErrSegmentLimit
	}
	if base := position &^ w.mask; w.aead == nil || w.base != base {
		a, err := w.m.cipher(base)
		if err != nil {
			return err
		}
		w.aead, w.base = a, base
	}
	binary.BigEndian.PutUint64(w.aad[:], position)
	w.aad[8] = 0
	if final {
		w.aad[8] = 1
	}
	return nil
}

// Seal writes the segment at a position to out, which has len(plaintext) +
// Overhead bytes. plaintext may be out[PayloadOffset:] without its last TagSize
// bytes, and must not overlap out otherwise. On error out may have been written
// to, but with nothing secret.
func (w *Worker) Seal(out []byte, position uint64, final bool, plaintext []byte) error {
	if err := w.begin(position, final); err != nil {
		return err
	}
	nonce := out[PrefixSize:PayloadOffset]
	if err := w.nonce(nonce); err != nil {
		return err
	}
	prefix := uint32(NonFinal)
	if final {
		prefix = uint32(len(out))
	}
	binary.BigEndian.PutUint32(out, prefix)
	payload := out[PayloadOffset:]
	sealed := w.aead.Seal(payload[:0:len(payload)], nonce, plaintext, w.aad[:])
	return settle(payload, sealed)
}

// Open writes the plaintext of the segment at a position to out, which has
// len(segment) - Overhead bytes. It does not look at the prefix. out may be the
// segment's ciphertext, segment[PayloadOffset:] without its last TagSize bytes,
// and must not overlap it otherwise. On error out is cleared.
func (w *Worker) Open(out []byte, position uint64, final bool, segment []byte) error {
	if err := w.begin(position, final); err != nil {
		clear(out)
		return err
	}
	opened, err := w.aead.Open(out[:0:len(out)], segment[PrefixSize:PayloadOffset], segment[PayloadOffset:], w.aad[:])
	if err != nil {
		clear(out)
		return ErrAuthentication
	}
	return settle(out, opened)
}

// settle sees to it that what a cipher returned is where it was asked to write:
// one of the caller's may allocate, or give another length.
func settle(want, got []byte) error {
	if len(got) != len(want) {
		clear(want)
		return ErrAEAD
	}
	if unsafe.SliceData(got) != unsafe.SliceData(want) {
		copy(want, got)
	}
	return nil
}
