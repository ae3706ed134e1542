package floe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"

	"github.com/cachekit-go/cachekit/core/floe/internal/message"
)

// A ReaderAt reads any part of the plaintext of a message. It is safe for
// concurrent use, as an [io.ReaderAt] should be. What it gives was
// authenticated, and that the message is complete was checked when it was made.
//
// Segments that a range covers are decrypted into the caller's slice; of the
// others it keeps the last ones decrypted, as many as there are processors at
// most, so that small reads in order decrypt each segment once. Each takes the
// memory of a segment. Once they are there it allocates nothing.
//
// The source must not change. If it gets shorter, reading what is gone fails
// with [ErrCiphertextLength].
//
// Spec sections 5 and 8.4.
type ReaderAt struct {
	source  io.ReaderAt
	header  Header
	layout  Layout
	message *message.Message
	keep    int // how many scratches at most

	mu     sync.Mutex
	free   []*scratch // the one used last is the last
	closed bool
}

// A scratch is what reading a segment needs. Between uses it holds the
// plaintext of a segment, perhaps.
type scratch struct {
	worker   *message.Worker
	buf      []byte
	position uint64
	plain    []byte // of the segment at position, in buf; nil if there is none
}

// NewReaderAt returns a reader of the plaintext of the message in the first
// size bytes of r. It reads and checks the header and the final segment. Where
// a message is embedded in something else, r can be an [io.SectionReader].
//
// It fails with [ErrKeyLength], [ErrHeaderLength], [ErrHeaderParams],
// [ErrHeaderTag], [ErrTruncated] if there is no final segment,
// [ErrCiphertextLength] if size is not that of the message, [ErrAuthentication],
// [ErrRange] if size is negative, or an error of r.
func NewReaderAt(r io.ReaderAt, size int64, key *Key, aad []byte) (*ReaderAt, error) {
	return Options{}.NewReaderAt(r, size, key, aad)
}

// NewReaderAt is the function [NewReaderAt] with the choices of o, of which
// Workers has no meaning here.
func (o Options) NewReaderAt(r io.ReaderAt, size int64, key *Key, aad []byte) (*ReaderAt, error) {
	if size < 0 {
		return nil, ErrRange
	}
	if size < HeaderSize {
		return nil, exactly(ErrHeaderLength, uint64(size), HeaderSize)
	}
	a := &ReaderAt{source: r, keep: runtime.GOMAXPROCS(0)}
	if err := readFull(r, a.header[:], 0, ErrHeaderLength); err != nil {
		return nil, err
	}
	m, p, err := o.open(key, bytes.Clone(aad), a.header)
	if err != nil {
		return nil, err
	}
	a.message = m
	if a.layout, err = p.CiphertextLayout(uint64(size)); err == nil {
		err = a.checkFinal()
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// checkFinal opens the final segment, without which nothing is complete.
func (a *ReaderAt) checkFinal() error {
	if a.layout.segmentLen() > math.MaxInt {
		return ErrOverflow // on a 32-bit machine
	}
	s, err := a.get(a.layout.segments - 1)
	if err != nil {
		return err
	}
	defer a.put(s)
	return a.load(s, a.layout.Final(), nil)
}

// segmentLen returns the length of the longest segment.
func (l Layout) segmentLen() uint64 {
	return min(uint64(l.params.segmentLen), l.ciphertext-HeaderSize)
}

// readFull fills b from an offset of r. If r ends before, it fails with a
// LengthError of the kind.
func readFull(r io.ReaderAt, b []byte, off int64, kind error) error {
	n, err := r.ReadAt(b, off)
	if n < 0 || n > len(b) {
		return errCount
	}
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		return exactly(kind, uint64(n), uint64(len(b)))
	}
	return err
}

// Header returns the header of the message.
func (a *ReaderAt) Header() Header { return a.header }

// Params returns the parameters of the message, which are authentic.
func (a *ReaderAt) Params() Params { return a.layout.params }

// Layout returns the layout of the message, which is authentic.
func (a *ReaderAt) Layout() Layout { return a.layout }

// Size returns the length of the plaintext in bytes.
func (a *ReaderAt) Size() int64 { return int64(a.layout.plaintext) }

// ReadAt reads len(p) bytes of the plaintext from off on, or what there is of
// them together with [io.EOF]. If a segment cannot be read or opened, it
// returns the bytes before it and the error, and p holds nothing of the
// segment. Then other reads are still possible.
//
// It fails with [ErrRange] if off is negative, [ErrCiphertextLength],
// [ErrSegmentPrefix], [ErrAuthentication], [ErrClosed], or an error of the
// source.
func (a *ReaderAt) ReadAt(p []byte, off int64) (n int, err error) {
	all := SectionReader{reader: a, size: a.Size()}
	return all.ReadAt(p, off)
}

// read fills p from an offset; the plaintext has all of it.
func (a *ReaderAt) read(p []byte, off int64) (n int, err error) {
	full := uint64(a.layout.params.SegmentPlaintextLen())
	s, err := a.get(uint64(off) / full)
	if err != nil {
		return 0, err
	}
	defer a.put(s)
	for n < len(p) {
		at := uint64(off) + uint64(n)
		segment, _ := a.layout.Segment(at / full)
		skip, length := int(at%full), int(segment.PlaintextLen())
		if skip == 0 && len(p)-n >= length && !s.holds(segment.position) {
			err = a.load(s, segment, p[n:n+length])
			if err == nil {
				n += length
			}
		} else if err = a.load(s, segment, nil); err == nil {
			n += copy(p[n:], s.plain[skip:])
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// ReadSegment appends the plaintext of the segment at a position, counted from
// 0, to dst, and returns the extended slice. It fails with [ErrRange] if there
// is none, and as [ReaderAt.ReadAt] does otherwise; on error dst is returned as
// it was.
func (a *ReaderAt) ReadSegment(dst []byte, position uint64) ([]byte, error) {
	s, ok := a.layout.Segment(position)
	if !ok {
		return dst, ErrRange
	}
	out, room := message.Extend(dst, int(s.PlaintextLen()))
	if _, err := a.read(room, int64(s.PlaintextOffset())); err != nil {
		return dst, err
	}
	return out, nil
}

// Close ends the use of a and wipes what it holds of plaintext and keys; reads
// that have started finish or fail with [ErrClosed]. It does not close the
// source, and returns nil.
func (a *ReaderAt) Close() error {
	a.message.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, s := range a.free {
		message.Wipe(s.buf)
	}
	a.free = nil
	return nil
}

// holds reports whether the plaintext of a segment is there.
func (s *scratch) holds(position uint64) bool { return s.plain != nil && s.position == position }

// get returns a scratch for the caller alone: the one with the plaintext at a
// position, or the one that was used longest ago.
func (a *ReaderAt) get(position uint64) (*scratch, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	if len(a.free) == 0 {
		return &scratch{worker: a.message.NewWorker(0), buf: make([]byte, a.layout.segmentLen())}, nil
	}
	i := 0
	for j, s := range a.free {
		if s.holds(position) {
			i = j
		}
	}
	s := a.free[i]
	a.free = append(a.free[:i], a.free[i+1:]...)
	return s, nil
}

// put gives a scratch back.
func (a *ReaderAt) put(s *scratch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || len(a.free) == a.keep {
		message.Wipe(s.buf)
		return
	}
	a.free = append(a.free, s)
}

// errCutBetween is a message that ends with a full segment which others should
// follow.
var errCutBetween = fmt.Errorf("%w (%w)", ErrTruncated, ErrCiphertextLength)

// load reads and opens a segment, into to if that is not nil, and otherwise
// into the scratch, where it may be already. On error the scratch holds none,
// and to is cleared.
func (a *ReaderAt) load(s *scratch, segment Segment, to []byte) error {
	if to == nil && s.holds(segment.position) {
		return nil
	}
	s.plain = nil
	b := s.buf[:segment.CiphertextLen()]
	if err := readFull(a.source, b, int64(segment.CiphertextOffset()), ErrCiphertextLength); err != nil {
		clear(to)
		return err
	}
	prefix := binary.BigEndian.Uint32(b)
	if n := uint64(len(b)); segment.final && uint64(prefix) != n {
		switch full := uint64(segment.params.segmentLen); {
		case prefix != message.NonFinal:
			return exactly(ErrCiphertextLength, n, uint64(prefix))
		case n < full:
			return atLeast(ErrCiphertextLength, n, full)
		}
		return errCutBetween
	}
	if !segment.final && prefix != message.NonFinal {
		return ErrSegmentPrefix
	}
	plain := b[PayloadOffset : len(b)-message.TagSize]
	if to != nil {
		return s.worker.Open(to, segment.position, segment.final, b)
	}
	if err := s.worker.Open(plain, segment.position, segment.final, b); err != nil {
		return err
	}
	s.position, s.plain = segment.position, plain
	return nil
}
