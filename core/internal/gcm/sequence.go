package gcm

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

// A Sequence gives each nonce once:
//
//	u64be(instance) || u32be(counter)
//
// It is safe for concurrent use. Spec section 5.
type Sequence struct {
	instance uint64
	// counter is the next value. It has 64 bits and advances with failed calls
	// too, so that it cannot come round to a value that was used.
	counter atomic.Uint64
}

// NewSequence returns a sequence of its own instance id.
func NewSequence() *Sequence {
	return &Sequence{instance: instances().Add(1) - 1}
}

// Instance returns the number that the nonces start with.
func (q *Sequence) Instance() uint64 { return q.instance }

// Counter returns the number of nonces asked for, failed calls included.
func (q *Sequence) Counter() uint64 { return q.counter.Load() }

// Skip leaves out the nonces up to counter, to test the end of a sequence. It
// never goes back: a nonce that was given is not given again.
func (q *Sequence) Skip(counter uint64) {
	for {
		c := q.counter.Load()
		if c >= counter || q.counter.CompareAndSwap(c, counter) {
			return
		}
	}
}

// put writes the next nonce to b, which has NonceSize bytes. It reports false
// once maxSeals nonces are used up, for good.
func (q *Sequence) put(b []byte) bool {
	c := q.counter.Add(1) - 1
	if c >= maxSeals {
		return false
	}
	binary.BigEndian.PutUint32(b[8:NonceSize], uint32(c))
	binary.BigEndian.PutUint64(b, q.instance)
	return true
}
