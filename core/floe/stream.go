package floe

import (
	"errors"
	"io"
	"math"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// A slot holds one segment on its way through a stream. The buffer grows with
// the data, not with what a header announces.
type slot struct {
	buf      []byte // the segment as it is in the message
	n        int    // length of the plaintext in it, or to come out of it
	position uint64
	final    bool
	plain    []byte // where the plaintext is or shall be; nil for its place in buf
	worker   *message.Worker
	err      error

	run   func()        // does the work, and says so in done
	done  chan struct{} // nil if the caller does the work
	ready bool          // done was heard
}

// firstBuffer is the least length of a slot's buffer in bytes, if segments are
// no shorter.
const firstBuffer = 4 << 10

// grow makes the buffer longer than the used bytes, but no longer than limit.
func (s *slot) grow(used, limit int) {
	if len(s.buf) <= used && used < limit {
		s.reserve(min(limit, max(2*len(s.buf), firstBuffer)))
	}
}

// reserve makes the buffer at least n bytes long, and wipes the old one.
func (s *slot) reserve(n int) {
	if len(s.buf) < n {
		b := make([]byte, n)
		copy(b, s.buf)
		message.Wipe(s.buf)
		s.buf = b
	}
}

// payload returns the plaintext in the buffer.
func (s *slot) payload() []byte { return s.buf[PayloadOffset : PayloadOffset+s.n] }

// segment returns the segment in the buffer.
func (s *slot) segment() []byte { return s.buf[:s.n+Overhead] }

// seal is the work of a slot in an encrypting stream.
func (s *slot) seal() {
	if s.plain == nil {
		s.plain = s.payload()
	}
	s.err = s.worker.Seal(s.segment(), s.position, s.final, s.plain)
	s.plain = nil
}

// open is the work of a slot in a decrypting stream.
func (s *slot) open() {
	if s.plain == nil {
		s.plain = s.payload()
	}
	s.err = s.worker.Open(s.plain, s.position, s.final, s.segment())
}

// A ring holds the slots of a stream in the order of their segments. With one
// worker it is a single slot, and the caller does the work. With more there is
// a slot for each, and one that the caller fills or empties meanwhile.
//
// Goroutines are started for a segment each and end with it, so that a stream
// can be abandoned at any time.
type ring struct {
	message *message.Message
	slots   []slot
	workers int
	first   int // the oldest slot in use
	used    int
	next    uint64 // the position of the next segment
	ended   bool   // the final segment was started
}

// newRing returns a ring of slots whose work is (*slot).seal or (*slot).open.
func newRing(m *message.Message, workers int, work func(*slot)) *ring {
	r := &ring{message: m, workers: workers}
	n := 1
	if workers > 1 {
		n = workers + 1
	}
	r.slots = make([]slot, n)
	for i := range r.slots {
		s := &r.slots[i]
		s.worker = m.NewWorker(0)
		if workers > 1 {
			s.done = make(chan struct{}, 1)
			s.run = func() {
				work(s)
				s.done <- struct{}{}
			}
		} else {
			s.run = func() { work(s) }
		}
	}
	return r
}

// serial reports whether the caller does the work.
func (r *ring) serial() bool { return r.workers == 1 }

// take returns a free slot for the next segment, or nil if there is none.
func (r *ring) take() *slot {
	if r.used == len(r.slots) {
		return nil
	}
	s := &r.slots[(r.first+r.used)%len(r.slots)]
	if len(s.buf) == 0 && r.next > 0 {
		// Segments are as long as the first, which has grown step by step.
		s.buf = make([]byte, len(r.slots[0].buf))
	}
	s.n, s.plain, s.err, s.ready = 0, nil, nil, false
	return s
}

// start begins the work on the slot that take returned. It fails with
// ErrSegmentLimit if the position cannot be that of such a segment.
func (r *ring) start(s *slot, final bool) error {
	if r.next >= MaxSegments || r.next == MaxSegments-1 && !final {
		return ErrSegmentLimit
	}
	s.position, s.final = r.next, final
	r.next++
	r.used++
	r.ended = final
	if r.serial() {
		s.run()
	} else {
		go s.run()
	}
	return nil
}

// oldest waits for the oldest slot in use and returns it, or nil if there is
// none. It is in use until it is released.
func (r *ring) oldest() *slot {
	if r.used == 0 {
		return nil
	}
	s := &r.slots[r.first]
	if s.done != nil && !s.ready {
		<-s.done
		s.ready = true
	}
	return s
}

// release makes the oldest slot free.
func (r *ring) release() {
	if s := r.oldest(); s != nil {
		r.first = (r.first + 1) % len(r.slots)
		r.used--
	}
}

// close waits for the work that has started, wipes the buffers and ends the
// message.
func (r *ring) close() {
	for r.used > 0 {
		r.release()
	}
	for i := range r.slots {
		message.Wipe(r.slots[i].buf)
		r.slots[i].buf, r.slots[i].plain = nil, nil
	}
	r.message.Close()
}

// A pump moves segments through a ring for an adapter that reads: it fills
// slots from the source and gives them in order when their work is done.
type pump struct {
	*ring
	fill   func(*slot) (final bool, err error)
	failed error // of fill; given after the segments before it
	lent   bool  // the oldest slot was given
}

// pull returns the next segment with its work done, which stays as it is until
// the next call. It returns nil after the final one.
func (p *pump) pull() (*slot, error) {
	if p.lent {
		p.release()
		p.lent = false
	}
	for p.used < p.workers && p.more() {
	}
	s := p.oldest()
	if s == nil {
		return nil, p.failed
	}
	if s.err != nil {
		return nil, s.err
	}
	// One is done, so another may be at work while the caller has this.
	if !p.serial() {
		p.more()
	}
	p.lent = true
	return s, nil
}

// more fills one slot and starts its work. It reports false if it could not.
func (p *pump) more() bool {
	if p.ended || p.failed != nil {
		return false
	}
	s := p.take()
	if s == nil {
		return false
	}
	final, err := p.fill(s)
	if err == nil {
		err = p.start(s, final)
	}
	p.failed = err
	return err == nil
}

// noProgress is how many empty reads in a row are too many.
const noProgress = 100

// errCount is a Read or Write that breaks its contract.
var errCount = errors.New("floe: reader or writer returned an impossible count")

// readSome reads at least one byte into b, which is not empty, unless it
// returns an error. Data that comes with an error is returned with it.
func readSome(r io.Reader, b []byte) (int, error) {
	for range noProgress {
		n, err := r.Read(b)
		if n < 0 || n > len(b) {
			return 0, errCount
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// writeAll writes b. It returns how many bytes that were, also with an error.
func writeAll(w io.Writer, b []byte) (int, error) {
	n, err := w.Write(b)
	if n < 0 || n > len(b) {
		return 0, errCount
	}
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// A life is how an adapter is doing: the first error stays.
type life struct {
	err    error
	closed bool
}

// errPanicked is the error of an adapter while a segment is on its way. It stays
// if the source, the sink or the AEAD panics and someone recovers: the segment
// that has come half way must not be given, nor left out.
var errPanicked = errors.New("floe: a call that did not return")

// check fails if the adapter is closed or has failed.
func (l *life) check() error {
	switch {
	case l.err != nil:
		return poisoned(l.err)
	case l.closed:
		return ErrClosed
	}
	return nil
}

// streamable fails with ErrOverflow if a segment does not fit the memory of a
// 32-bit machine.
func (p Params) streamable() error {
	if uint64(p.segmentLen)+message.PrefixSize > math.MaxInt {
		return ErrOverflow
	}
	return nil
}
