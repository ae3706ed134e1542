package cachekit

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// maxSeals is the number of nonces of a sequence: the counter's last usable
// value is 2^32 - 2.
const maxSeals = 1<<32 - 1

// instances counts the sequences of this process from a random start, so that
// two processes with one key are unlikely to meet.
var instances = sync.OnceValue(func() *atomic.Uint64 {
	var seed [8]byte
	// Read does not fail: without randomness it ends the process, and so a
	// sequence that starts at a known value is never made.
	rand.Read(seed[:])
	c := new(atomic.Uint64)
	c.Store(binary.BigEndian.Uint64(seed[:]))
	return c
})

// A sequence gives each nonce once:
//
//	u64be(instance) || u32be(counter)
//
// It is safe for concurrent use. Spec section 5.
type sequence struct {
	instance uint64
	// counter is the next value. It has 64 bits and advances with failed calls
	// too, so that it cannot come round to a value that was used.
	counter atomic.Uint64
}

// newSequence returns a sequence of its own instance id.
func newSequence() *sequence {
	return &sequence{instance: instances().Add(1) - 1}
}

// put writes the next nonce to b, which has nonceSize bytes. It fails with
// ErrNonceCounterExhausted once maxSeals nonces are used up, for good.
func (q *sequence) put(b []byte) error {
	c := q.counter.Add(1) - 1
	if c >= maxSeals {
		return ErrNonceCounterExhausted
	}
	binary.BigEndian.PutUint32(b[8:nonceSize], uint32(c))
	binary.BigEndian.PutUint64(b, q.instance)
	return nil
}
