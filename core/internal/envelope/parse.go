package envelope

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// A SyntaxError is a document that is well-formed MessagePack but no envelope.
// Its text has types, markers and numbers out of range, but no byte of a
// string.
type SyntaxError struct {
	Text   string
	Offset int // of the marker at fault, in bytes from the start of the document
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Text, e.Offset)
}

// An Envelope is a parsed envelope. Its slices alias the input of [Parse].
type Envelope struct {
	bin      []byte // the block in its bin form
	legacy   []byte // the encoded elements of its array form; nil in the bin form
	n        int    // block length, both forms
	Checksum uint64 // read big-endian
	Size     uint32 // bytes of payload that the writer claims
	Format   []byte // valid UTF-8
	Len      int    // bytes of the whole envelope, header to label
}

// BlockLen returns the length of the block in bytes.
func (e *Envelope) BlockLen() int { return e.n }

// Block returns the block. The bin form aliases the input and costs nothing;
// the legacy form, an array of integers, is copied into a new slice of BlockLen
// bytes.
func (e *Envelope) Block() []byte {
	if e.legacy == nil {
		return e.bin
	}
	block := make([]byte, e.n)
	r := reader{b: e.legacy}
	for i := range block {
		// Parse has checked the elements.
		block[i], _ = r.byte()
	}
	return block
}

// Parse reads the envelope at the start of b. Bytes behind it are not looked at,
// and nothing is allocated but for an error.
//
// What Parse accepts, [Scan] does too: it has the one shape, every length in it
// was found to fit b, and all that is promised was there to be read. So Scan
// need only be asked what is wrong with what Parse refuses.
//
// It reads the protocol's array of exactly four: the block as bin or as an
// array of integers from 0 to 255, the checksum as an array of eight such
// integers, the size as an integer that fits 32 bits, the label as a str of
// valid UTF-8. Every header width and every integer encoding, signed ones too,
// will do if the value fits. Fields are read in order and the first fault wins;
// a wrong arity is reported only behind the fields before it.
//
// The error is a *[SyntaxError].
//
// Spec sections 1 and 2.
//
// Note: the original's decoder also reads maps, a block as str, a checksum as
// bin and a label as bin. No writer emits them and the protocol has none of
// them, so they are refused here.
func Parse(b []byte) (e Envelope, err error) {
	r := reader{b: b}
	fields, err := r.root()
	if err != nil {
		return e, err
	}
	if fields < 1 {
		return e, r.short(fields)
	}
	if err = r.block(&e); err != nil {
		return e, err
	}
	if fields < 2 {
		return e, r.short(fields)
	}
	if e.Checksum, err = r.checksum(); err != nil {
		return e, err
	}
	if fields < 3 {
		return e, r.short(fields)
	}
	size, err := r.integer(1<<32-1, "u32")
	if err != nil {
		return e, err
	}
	e.Size = uint32(size)
	if fields < 4 {
		return e, r.short(fields)
	}
	if e.Format, err = r.label(); err != nil {
		return e, err
	}
	if fields > 4 {
		return e, &SyntaxError{"array had incorrect length, expected 4", r.pos}
	}
	e.Len = r.pos
	return e, nil
}

// A reader reads typed values from b at pos. Its methods fail with a
// *SyntaxError.
type reader struct {
	b   []byte
	pos int
}

// root reads the header of the root array and returns its arity.
func (r *reader) root() (uint64, error) {
	if r.pos < len(r.b) && r.b[r.pos] == 0x94 {
		r.pos++
		return 4, nil
	}
	n, ok := r.array()
	if ok {
		return n, nil
	}
	// The original reads a bin as the array of its bytes, and then fails on
	// its first byte.
	if n, ok := r.bin(); ok {
		if len(n) == 0 {
			return 0, r.short(0)
		}
		return 0, r.fault("invalid type: integer, expected byte array")
	}
	return 0, r.wrong("struct StorageEnvelope")
}

// short reports a root array of n elements, which are fewer than 4.
func (r *reader) short(n uint64) error {
	return r.fault(fmt.Sprintf("invalid length %d, expected struct StorageEnvelope with 4 elements", n))
}

// block reads the block in either form.
func (r *reader) block(e *Envelope) error {
	if bin, ok := r.bin(); ok {
		e.bin, e.n = bin, len(bin)
		return nil
	}
	n, ok := r.array()
	if !ok {
		return r.wrong("byte array")
	}
	// An element takes at least a byte. This also keeps n within int.
	if n > uint64(len(r.b)-r.pos) {
		return r.fault("unexpected end of input")
	}
	start := r.pos
	for range n {
		if _, err := r.byte(); err != nil {
			return err
		}
	}
	e.legacy, e.n = r.b[start:r.pos:r.pos], int(n)
	return nil
}

// checksum reads the array of eight bytes.
func (r *reader) checksum() (sum uint64, err error) {
	if sum, n := shortestChecksum(r.b[r.pos:]); n > 0 {
		r.pos += n
		return sum, nil
	}
	n, ok := r.array()
	if !ok {
		return 0, r.wrong("an array of length 8")
	}
	for i := range uint64(8) {
		if i >= n {
			return 0, r.fault(fmt.Sprintf("invalid length %d, expected an array of length 8", n))
		}
		v, err := r.byte()
		if err != nil {
			return 0, err
		}
		sum = sum<<8 | uint64(v)
	}
	if n > 8 {
		return 0, r.fault("array had incorrect length, expected 8")
	}
	return sum, nil
}

// shortestChecksum reads a checksum in the form that writers give it and returns
// the length of that, or 0 if it has another form.
func shortestChecksum(b []byte) (sum uint64, n int) {
	if len(b) < 1+2*8 || b[0] != 0x98 {
		return 0, 0
	}
	n = 1
	for range 8 {
		c := b[n]
		n++
		if c >= 0x80 {
			if c != 0xcc {
				return 0, 0
			}
			c = b[n]
			n++
		}
		sum = sum<<8 | uint64(c)
	}
	return sum, n
}

// label reads the format label.
func (r *reader) label() ([]byte, error) {
	at := r.pos
	s, ok := r.str()
	if !ok {
		return nil, r.wrong("a string")
	}
	if i := invalidUTF8(s); i >= 0 {
		return nil, &SyntaxError{fmt.Sprintf("string found to be invalid utf8 from index %d", i), at}
	}
	return s, nil
}

// invalidUTF8 returns the index of the first byte of s that is not UTF-8, or -1.
func invalidUTF8(s []byte) int {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	if i == len(s) || utf8.Valid(s[i:]) {
		return -1
	}
	for i < len(s) {
		c, n := utf8.DecodeRune(s[i:])
		if c == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}

// header takes the marker at pos and a big-endian length of size bytes, and
// returns the length.
func (r *reader) header(size int) (n uint64, ok bool) {
	rest := r.b[r.pos+1:]
	if len(rest) < size {
		return 0, false
	}
	for _, c := range rest[:size] {
		n = n<<8 | uint64(c)
	}
	r.pos += 1 + size
	return n, true
}

// bytes takes a payload of n bytes behind a header of 1+size bytes. It moves
// nothing unless all is there.
func (r *reader) bytes(size int) ([]byte, bool) {
	at := r.pos
	n, ok := r.header(size)
	if !ok || n > uint64(len(r.b)-r.pos) {
		r.pos = at
		return nil, false
	}
	start := r.pos
	r.pos += int(n)
	return r.b[start:r.pos:r.pos], true
}

// bin takes a bin of any width.
func (r *reader) bin() ([]byte, bool) {
	if r.pos >= len(r.b) {
		return nil, false
	}
	switch r.b[r.pos] {
	case 0xc4:
		return r.bytes(1)
	case 0xc5:
		return r.bytes(2)
	case 0xc6:
		return r.bytes(4)
	}
	return nil, false
}

// str takes a str of any width; it may be invalid UTF-8.
func (r *reader) str() ([]byte, bool) {
	if r.pos >= len(r.b) {
		return nil, false
	}
	switch m := r.b[r.pos]; m {
	case 0xd9:
		return r.bytes(1)
	case 0xda:
		return r.bytes(2)
	case 0xdb:
		return r.bytes(4)
	default:
		n := int(m & 31)
		if m&0xe0 != 0xa0 || n > len(r.b)-r.pos-1 {
			return nil, false
		}
		start := r.pos + 1
		r.pos = start + n
		return r.b[start:r.pos:r.pos], true
	}
}

// array takes the header of an array of any width and returns its arity.
func (r *reader) array() (n uint64, ok bool) {
	if r.pos >= len(r.b) {
		return 0, false
	}
	switch m := r.b[r.pos]; m {
	case 0xdc:
		return r.header(2)
	case 0xdd:
		return r.header(4)
	default:
		if m&0xf0 != 0x90 {
			return 0, false
		}
		r.pos++
		return uint64(m & 15), true
	}
}

// byte takes an integer from 0 to 255 in any encoding.
func (r *reader) byte() (byte, error) {
	if rest := r.b[r.pos:]; len(rest) >= 2 {
		if rest[0] < 0x80 {
			r.pos++
			return rest[0], nil
		}
		if rest[0] == 0xcc {
			r.pos += 2
			return rest[1], nil
		}
	}
	v, err := r.integer(255, "u8")
	return byte(v), err
}

// integer takes an integer from 0 to max in any encoding. want names the type
// in the error.
func (r *reader) integer(max uint64, want string) (uint64, error) {
	if r.pos >= len(r.b) {
		return 0, r.fault("unexpected end of input")
	}
	var (
		at   = r.pos
		m    = r.b[at]
		rest = r.b[at+1:]
		size int
		v    uint64
		neg  bool // v is negative as an int64
	)
	switch {
	case m < 0x80:
		v = uint64(m)
	case m >= 0xe0:
		v, neg = uint64(int8(m)), true
	case m >= 0xcc && m <= 0xcf:
		size = 1 << (m - 0xcc)
	case m >= 0xd0 && m <= 0xd3:
		size = 1 << (m - 0xd0)
	default:
		return 0, r.wrongInteger(want)
	}
	if len(rest) < size {
		return 0, r.fault("unexpected end of input")
	}
	switch size {
	case 1:
		v = uint64(rest[0])
	case 2:
		v = uint64(binary.BigEndian.Uint16(rest))
	case 4:
		v = uint64(binary.BigEndian.Uint32(rest))
	case 8:
		v = binary.BigEndian.Uint64(rest)
	}
	switch m {
	case 0xd0:
		v, neg = uint64(int8(v)), int8(v) < 0
	case 0xd1:
		v, neg = uint64(int16(v)), int16(v) < 0
	case 0xd2:
		v, neg = uint64(int32(v)), int32(v) < 0
	case 0xd3:
		neg = int64(v) < 0
	}
	if neg {
		return 0, r.fault(fmt.Sprintf("invalid value: integer `%d`, expected %s", int64(v), want))
	}
	if v > max {
		return 0, r.fault(fmt.Sprintf("invalid value: integer `%d`, expected %s", v, want))
	}
	r.pos = at + 1 + size
	return v, nil
}

// fault reports text at the current position.
func (r *reader) fault(text string) error {
	return &SyntaxError{text, r.pos}
}

// wrong reports a value of another type than want at the current position.
func (r *reader) wrong(want string) error {
	if r.pos >= len(r.b) {
		return r.fault("unexpected end of input")
	}
	return r.fault("invalid type: " + kind(r.b[r.pos]) + ", expected " + want)
}

// wrongInteger is wrong where an integer is wanted.
func (r *reader) wrongInteger(want string) error {
	switch m := r.b[r.pos]; {
	case m == 0xc0, m == 0xc2, m == 0xc3, m == 0xca, m == 0xcb:
		return r.wrong(want)
	default:
		return r.fault("wrong msgpack marker: " + kind(m) + ", expected " + want)
	}
}

// kind names the type of a marker.
func kind(m byte) string {
	switch {
	case m < 0x80, m >= 0xe0, m >= 0xcc && m <= 0xd3:
		return "integer"
	case m < 0x90, m == 0xde, m == 0xdf:
		return "map"
	case m < 0xa0, m == 0xdc, m == 0xdd:
		return "sequence"
	case m < 0xc0, m >= 0xd9 && m <= 0xdb:
		return "string"
	case m == 0xc0:
		return "unit value"
	case m == 0xc1:
		return "reserved marker"
	case m <= 0xc3:
		return "boolean"
	case m <= 0xc6:
		return "byte array"
	case m == 0xca, m == 0xcb:
		return "floating point"
	default:
		return "newtype struct"
	}
}
