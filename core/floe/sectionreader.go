package floe

import (
	"io"
	"math"
)

// Section returns a reader of the n bytes of the plaintext from off on. It
// fails with [ErrRange] unless the plaintext has all of them.
func (a *ReaderAt) Section(off, n int64) (*SectionReader, error) {
	if off < 0 || n < 0 || off > a.Size() || n > a.Size()-off {
		return nil, ErrRange
	}
	return &SectionReader{reader: a, base: off, size: n}, nil
}

// A SectionReader reads a range of a message's plaintext, as an
// [io.SectionReader] would, and writes it to others a segment at a time. Its
// ReadAt is safe for concurrent use, and its other methods are not.
type SectionReader struct {
	reader     *ReaderAt
	base, size int64
	at         int64 // relative to base
}

// Size returns the length of the range in bytes.
func (s *SectionReader) Size() int64 { return s.size }

// ReadAt reads from an offset in the range, as [ReaderAt.ReadAt] does.
func (s *SectionReader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, ErrRange
	}
	if len(p) == 0 {
		return 0, nil
	}
	if off >= s.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > s.size-off
	if short {
		p = p[:s.size-off]
	}
	if n, err = s.reader.read(p, s.base+off); err == nil && short {
		err = io.EOF
	}
	return n, err
}

// Read reads from the current offset.
func (s *SectionReader) Read(p []byte) (n int, err error) {
	n, err = s.ReadAt(p, s.at)
	s.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// Seek sets the offset for the next Read. Behind the end there is nothing to
// read. It fails with [ErrRange], and the offset stays, if the new one would be
// negative or not fit an int64.
func (s *SectionReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset = saturate(s.at, offset)
	case io.SeekEnd:
		offset = saturate(s.size, offset)
	default:
		return 0, ErrRange
	}
	if offset < 0 {
		return 0, ErrRange
	}
	s.at = offset
	return offset, nil
}

// saturate returns a + b, or -1 if that is too large; a is not negative.
func saturate(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return -1
	}
	return a + b
}

// WriteTo writes the rest of the range to w, and returns how many bytes that
// were. If w fails, the offset is behind those it took.
func (s *SectionReader) WriteTo(w io.Writer) (n int64, err error) {
	if s.at >= s.size {
		return 0, nil
	}
	a := s.reader
	full := int64(a.layout.params.SegmentPlaintextLen())
	b, err := a.get(uint64((s.base + s.at) / full))
	if err != nil {
		return 0, err
	}
	defer a.put(b)
	for s.at < s.size {
		at := s.base + s.at
		segment, _ := a.layout.Segment(uint64(at / full))
		if err := a.load(b, segment, nil); err != nil {
			return n, err
		}
		plain := b.plain[at%full:]
		plain = plain[:min(int64(len(plain)), s.size-s.at)]
		got, err := writeAll(w, plain)
		n += int64(got)
		s.at += int64(got)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
