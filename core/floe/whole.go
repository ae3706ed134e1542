package floe

import (
	"sync"
	"sync/atomic"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// Seal encrypts plaintext as one message, authenticates it together with aad,
// and appends the message to dst. It returns the extended slice. plaintext and
// aad may be empty; aad is not part of the message. Each call draws an IV, so
// equal plaintexts give different messages.
//
// The spare capacity of dst must not overlap plaintext or aad where the message
// would go. If there is room for [SealedLen] bytes, the plaintext is written
// nowhere else.
//
// It fails with [ErrKeyLength], [ErrParamsMismatch], [ErrSegmentLimit],
// [ErrOverflow], [ErrOverlap] or [ErrAEAD]. On error dst is returned as it was.
//
// Spec sections 2 to 4 and 8.2.
func Seal(dst []byte, key *Key, aad []byte, p Params, plaintext []byte) ([]byte, error) {
	return Options{}.Seal(dst, key, aad, p, plaintext)
}

// SealParallel is [Seal] with a number of goroutines, as many as
// runtime.GOMAXPROCS says if it is less than 1.
func SealParallel(dst []byte, key *Key, aad []byte, p Params, plaintext []byte, workers int) ([]byte, error) {
	return Options{Workers: orAll(workers)}.Seal(dst, key, aad, p, plaintext)
}

// orAll makes less than 1 worker mean all.
func orAll(workers int) int {
	if workers < 1 {
		return -1
	}
	return workers
}

// Seal is the function [Seal] with the choices of o. It fails with
// [ErrRandomness] too.
func (o Options) Seal(dst []byte, key *Key, aad []byte, p Params, plaintext []byte) ([]byte, error) {
	n, err := SealedLen(p, len(plaintext))
	if err != nil {
		return dst, err
	}
	out, room, err := extend(dst, n, plaintext, aad)
	if err != nil {
		return dst, err
	}
	m, err := o.start(key, aad, p)
	if err != nil {
		return dst, err
	}
	defer m.Close()
	h := m.Header()
	body := room[copy(room, h[:]):]
	full, capacity := uint64(p.segmentLen), uint64(p.SegmentPlaintextLen())
	err = o.each(m, p, segmentCount(len(body), p), func(w *message.Worker, i uint64) error {
		to, from := body[i*full:], plaintext[i*capacity:]
		final := uint64(len(to)) <= full
		if !final {
			to, from = to[:full], from[:capacity]
		}
		return w.Seal(to, i, final, from)
	})
	if err != nil {
		clear(room)
		return dst, err
	}
	return out, nil
}

// Open checks and decrypts a message, and appends the plaintext to dst. It
// returns the extended slice. aad must be what the message was sealed with. All
// of msg must be the message: nothing may follow.
//
// The spare capacity of dst must not overlap msg or aad where the plaintext
// would go.
//
// It fails with [ErrKeyLength], [ErrHeaderLength], [ErrHeaderParams],
// [ErrHeaderTag], [ErrCiphertextLength], [ErrAuthentication], [ErrTruncated],
// [ErrOverlap] or [ErrAEAD]. On error dst is returned as it was, and what was
// decrypted is wiped.
//
// Spec sections 4, 7 and 8.2.
func Open(dst []byte, key *Key, aad, msg []byte) ([]byte, error) {
	return Options{}.Open(dst, key, aad, msg)
}

// OpenWithParams is [Open] for messages with the parameters p alone. It fails
// with [ErrHeaderParams] for others, and with [ErrParamsMismatch] for the zero
// value of p.
func OpenWithParams(dst []byte, key *Key, aad []byte, p Params, msg []byte) ([]byte, error) {
	if err := p.check(); err != nil {
		return dst, err
	}
	return Options{Require: p}.Open(dst, key, aad, msg)
}

// OpenParallel is [Open] with a number of goroutines, as many as
// runtime.GOMAXPROCS says if it is less than 1.
func OpenParallel(dst []byte, key *Key, aad, msg []byte, workers int) ([]byte, error) {
	return Options{Workers: orAll(workers)}.Open(dst, key, aad, msg)
}

// Open is the function [Open] with the choices of o.
func (o Options) Open(dst []byte, key *Key, aad, msg []byte) ([]byte, error) {
	if len(msg) < HeaderSize {
		return dst, exactly(ErrHeaderLength, uint64(len(msg)), HeaderSize)
	}
	m, p, err := o.open(key, aad, Header(msg[:HeaderSize]))
	if err != nil {
		return dst, err
	}
	defer m.Close()
	body := msg[HeaderSize:]
	if len(body) == 0 {
		return dst, ErrTruncated
	}
	count := segmentCount(len(body), p)
	capacity := uint64(p.SegmentPlaintextLen())
	// What is no multiple of the segment length may be too short for a segment.
	last := uint64(len(body)) - (count-1)*uint64(p.segmentLen)
	n := (count-1)*capacity + max(last, Overhead) - Overhead
	out, room, err := extend(dst, int(n), msg, aad)
	if err != nil {
		return dst, err
	}
	complete := false // written for the last segment alone
	err = o.each(m, p, count, func(w *message.Worker, i uint64) error {
		segment, final, err := p.cut(body, i)
		if err != nil {
			return err
		}
		if i == count-1 {
			complete = final
		}
		return w.Open(room[i*capacity:][:len(segment)-Overhead], i, final, segment)
	})
	if err == nil && !complete {
		err = ErrTruncated
	}
	if err != nil {
		message.Wipe(room)
		return dst, err
	}
	return out, nil
}

// cut returns the segment at a position of a message without its header, and
// whether it is the final one, of which it is the end then. It fails with
// ErrCiphertextLength.
func (p Params) cut(body []byte, position uint64) (segment []byte, final bool, err error) {
	rest := body[position*uint64(p.segmentLen):]
	n := uint64(len(rest))
	if n < message.PrefixSize {
		return nil, false, between(ErrCiphertextLength, n, message.PrefixSize, uint64(p.segmentLen))
	}
	f, err := p.DecodePrefix([4]byte(rest))
	if err != nil {
		return nil, false, err
	}
	if n < uint64(f.Len) {
		return nil, false, atLeast(ErrCiphertextLength, n, uint64(f.Len))
	}
	if f.Final && n > uint64(f.Len) {
		return nil, false, exactly(ErrCiphertextLength, n, uint64(f.Len))
	}
	return rest[:f.Len], f.Final, nil
}

// segmentCount returns how many segments n bytes are, the last one not full.
func segmentCount(n int, p Params) uint64 {
	full := uint64(p.segmentLen)
	count := uint64(n) / full
	if uint64(n)%full > 0 {
		count++
	}
	return count
}

// extend returns dst extended by n bytes, and these. It fails with ErrOverlap if
// they overlap an input.
func extend(dst []byte, n int, inputs ...[]byte) (out, room []byte, err error) {
	out, room = extendBy(dst, n)
	for _, in := range inputs {
		if message.Overlap(room, in) {
			return nil, nil, ErrOverlap
		}
	}
	return out, room, nil
}

// parallelChunk is how many bytes a goroutine takes at a time, if there are
// enough: with less the goroutines wait for each other.
const parallelChunk = 256 << 10

// each calls work for count segments, in order or by several goroutines, each
// with a worker of its own. It returns the error of the first segment that has
// one, whatever the order in time.
func (o Options) each(m *message.Message, p Params, count uint64, work func(w *message.Worker, i uint64) error) error {
	workers := min(uint64(o.workers()), count)
	if workers == 1 {
		w := m.NewWorker(count)
		for i := range count {
			if err := work(w, i); err != nil {
				return err
			}
		}
		return nil
	}
	chunk := max(1, min(parallelChunk/uint64(p.segmentLen), count/(8*workers)))
	var (
		wg      sync.WaitGroup
		next    atomic.Uint64 // the first segment that no one has taken
		mu      sync.Mutex
		failed  = count // the first segment with an error
		failure error
	)
	fail := func(i uint64, err error) {
		mu.Lock()
		defer mu.Unlock()
		if i < failed {
			failed, failure = i, err
		}
		next.Store(count) // those before i are taken
	}
	for range workers {
		wg.Go(func() {
			w := m.NewWorker(max(1, count/workers))
			for {
				low := next.Add(chunk) - chunk
				if low >= count {
					return
				}
				for i := low; i < min(low+chunk, count); i++ {
					if err := work(w, i); err != nil {
						fail(i, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return failure
}
