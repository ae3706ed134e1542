package envelope

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf8"

	// A writer and a reader of MessagePack that are not ours.
	"github.com/vmihailenco/msgpack/v5"
)

func TestAppend(t *testing.T) {
	// The worked example of spec section 1, and the empty payload.
	for _, v := range []struct {
		block, want string
		sum         uint64
		size        uint32
	}{
		{"\xf0\x01hello, cachekit!", "\x94\xc4\x12\xf0\x01hello, cachekit!\x98\x6d\xcc\x8a\x34\xcc\xb6\x3a\x3c\x52\xcc\xd3\x10\xa7msgpack", 0x6d8a34b63a3c52d3, 16},
		{"\x00", "\x94\xc4\x01\x00\x98\x2d\x06\xcc\x80\x05\x38\xcc\xd3\xcc\x94\xcc\xc2\x00\xa7msgpack", 0x2d06800538d394c2, 0},
	} {
		if got := Append([]byte("x"), []byte(v.block), v.sum, v.size, "msgpack"); string(got) != "x"+v.want {
			t.Errorf("got %x, want %x", got, v.want)
		}
	}
}

func TestAppendParse(t *testing.T) {
	sums := []uint64{0, 1, 0x7f7f7f7f7f7f7f7f, 0x8080808080808080, 0xffffffffffffffff, 0x80, 0x8000000000000000, 0x0080ff7f01fe8142}
	for _, block := range []int{0, 1, 255, 256, 65535, 65536} {
		for _, size := range []uint32{0, 127, 128, 255, 256, 65535, 65536, 1<<32 - 1} {
			for _, format := range []int{0, 31, 32, 255, 256, 65535, 65536} {
				for _, sum := range sums {
					if block+format > 1000 && sum != sums[7] {
						continue
					}
					b := bytes.Repeat([]byte{7}, block)
					f := strings.Repeat("f", format)
					env := Append(nil, b, sum, size, f)
					if n := Len(block, sum, size, format); n != uint64(len(env)) {
						t.Fatalf("Len(%d, %x, %d, %d) = %d, want %d", block, sum, size, format, n, len(env))
					}
					if n := HeaderLen(block); !bytes.Equal(env[n:n+block], b) {
						t.Fatalf("HeaderLen(%d) = %d", block, n)
					}
					if n, fault := Scan(env, 2); fault != 0 || n != len(env) {
						t.Fatalf("Scan: %d, fault %d, want %d", n, fault, len(env))
					}
					e, err := Parse(append(env, 0xc1))
					if err != nil || e.BlockLen() != block || !bytes.Equal(e.Block(), b) || e.Checksum != sum || e.Size != size || string(e.Format) != f {
						t.Fatalf("Parse: %v", err)
					}
				}
			}
		}
	}
}

// Every integer encoding at its edges, as a byte and as a size.
func TestParseIntegers(t *testing.T) {
	const head = "\x94\xc4\x01\x00\x98"
	for _, v := range []struct {
		enc string
		v   int64 // -1: refused everywhere
	}{
		{"\x00", 0}, {"\x7f", 127}, {"\xe0", -1}, {"\xff", -1},
		{"\xcc\x00", 0}, {"\xcc\xff", 255},
		{"\xcd\x00\xff", 255}, {"\xcd\x01\x00", 256}, {"\xcd\xff\xff", 65535},
		{"\xce\x00\x00\x00\xff", 255}, {"\xce\xff\xff\xff\xff", 1<<32 - 1},
		{"\xcf\x00\x00\x00\x00\xff\xff\xff\xff", 1<<32 - 1}, {"\xcf\x00\x00\x00\x01\x00\x00\x00\x00", -1},
		{"\xcf\x80\x00\x00\x00\x00\x00\x00\x10", -1}, {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", -1},
		{"\xd0\x00", 0}, {"\xd0\x7f", 127}, {"\xd0\x80", -1}, {"\xd0\xff", -1},
		{"\xd1\x00\xff", 255}, {"\xd1\x7f\xff", 32767}, {"\xd1\x80\x00", -1},
		{"\xd2\x00\x00\x00\x80", 128}, {"\xd2\x7f\xff\xff\xff", 1<<31 - 1}, {"\xd2\x80\x00\x00\x00", -1},
		{"\xd3\x00\x00\x00\x00\xff\xff\xff\xff", 1<<32 - 1}, {"\xd3\x00\x00\x00\x01\x00\x00\x00\x00", -1},
		{"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", -1}, {"\xd3\xff\xff\xff\xff\xff\xff\xff\xff", -1},
		{"\xc0", -1}, {"\xc2", -1}, {"\xc3", -1}, {"\xca\x00\x00\x00\x00", -1}, {"\xcb\x00\x00\x00\x00\x00\x00\x00\x00", -1},
		{"\xa0", -1}, {"\xd9\x00", -1}, {"\xc4\x00", -1}, {"\x90", -1}, {"\x80", -1}, {"\xd4\x00\x00", -1}, {"\xc7\x00\x00", -1},
	} {
		asSize := []byte(head + "\x00\x00\x00\x00\x00\x00\x00\x00" + v.enc + "\xa0")
		asByte := []byte(head + "\x00\x00\x00\x00\x00\x00\x00" + v.enc + "\x00\xa0")
		legacy := []byte("\x94\x92" + v.enc + "\x05\x98\x00\x00\x00\x00\x00\x00\x00\x00\x00\xa0")
		for _, b := range [][]byte{asSize, asByte, legacy} {
			if n, f := Scan(b, 100); f != 0 || n != len(b) {
				t.Fatalf("%x is no document", b)
			}
		}
		if e, err := Parse(asSize); (err == nil) != (v.v >= 0) || err == nil && int64(e.Size) != v.v {
			t.Errorf("%x as size: %d, %v", v.enc, e.Size, err)
		}
		fits := v.v >= 0 && v.v <= 255
		if e, err := Parse(asByte); (err == nil) != fits || fits && int64(e.Checksum) != v.v {
			t.Errorf("%x as checksum byte: %d, %v", v.enc, e.Checksum, err)
		}
		if e, err := Parse(legacy); (err == nil) != fits || fits && !bytes.Equal(e.Block(), []byte{byte(v.v), 5}) {
			t.Errorf("%x as block element: %v", v.enc, err)
		}
	}
}

// FuzzParse gives Parse any bytes: it must be safe without Scan, and accept no
// more.
func FuzzParse(f *testing.F) {
	f.Add(Append(nil, []byte("\x50hello"), 1<<63+5, 5, "msgpack"))
	f.Add([]byte("\x94\x92\x00\xcc\xff\x98\x00\x01\x02\x03\x04\x05\x06\x07\xcd\x01\x00\xd9\x01x"))
	f.Add([]byte("\xdd\xff\xff\xff\xff\xdd\xff\xff\xff\xff"))
	f.Add([]byte("\x94\xc6\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Parse(b)
		if err != nil {
			if s, ok := err.(*SyntaxError); !ok || s.Offset < 0 || s.Offset > len(b) || s.Text == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if n, fault := Scan(b, 2); fault != 0 || n != e.Len {
			t.Fatalf("parsed %d bytes, Scan gives %d, fault %d", e.Len, n, fault)
		}
		again, err := Parse(Append(nil, e.Block(), e.Checksum, e.Size, string(e.Format)))
		if err != nil || !bytes.Equal(again.Block(), e.Block()) || again.Checksum != e.Checksum || again.Size != e.Size || !bytes.Equal(again.Format, e.Format) {
			t.Fatalf("written again: %v", err)
		}
	})
}

// foreign writes an envelope with the other encoder, whose integers have their
// shortest form too: the block as bin, or as an array of integers.
func foreign(t *testing.T, block []byte, sum uint64, size uint32, format string, legacy bool) []byte {
	t.Helper()
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	errs := []error{e.EncodeArrayLen(4)}
	ints := func(v []byte) {
		errs = append(errs, e.EncodeArrayLen(len(v)))
		for _, c := range v {
			errs = append(errs, e.EncodeUint(uint64(c)))
		}
	}
	if legacy {
		ints(block)
	} else {
		errs = append(errs, e.EncodeBytes(append([]byte{}, block...)))
	}
	ints(binary.BigEndian.AppendUint64(nil, sum))
	errs = append(errs, e.EncodeUint(uint64(size)), e.EncodeString(format))
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// FuzzAppend writes with both writers, in both encodings of the block, and reads
// with both readers.
func FuzzAppend(f *testing.F) {
	f.Add([]byte("\xf0\x01hello, cachekit!"), uint64(0x6d8a34b63a3c52d3), uint32(16), "msgpack")
	f.Add([]byte(nil), uint64(0), uint32(0), "")
	f.Add(bytes.Repeat([]byte{0x80}, 300), uint64(1<<63), uint32(1<<16), strings.Repeat("f", 300))
	f.Add(bytes.Repeat([]byte{7}, 70_000), uint64(1<<64-1), uint32(1<<32-1), "a\xff")
	f.Fuzz(func(t *testing.T, block []byte, sum uint64, size uint32, format string) {
		ours := Append(nil, block, sum, size, format)
		if n := Len(len(block), sum, size, len(format)); n != uint64(len(ours)) {
			t.Fatalf("Len is %d, written are %d", n, len(ours))
		}
		if theirs := foreign(t, block, sum, size, format, false); !bytes.Equal(ours, theirs) {
			t.Fatalf("got %x, want %x", ours, theirs)
		}
		legacy := foreign(t, block, sum, size, format, true)
		for _, env := range [][]byte{ours, legacy} {
			e, err := Parse(env)
			if !utf8.ValidString(format) {
				if err == nil {
					t.Fatalf("label %q is read", format)
				}
				continue
			}
			if err != nil || e.BlockLen() != len(block) || !bytes.Equal(e.Block(), block) || e.Checksum != sum || e.Size != size || string(e.Format) != format || e.Len != len(env) {
				t.Fatalf("%x: got %+v, %v", env, e, err)
			}
			for n := range min(len(env), 64) {
				if _, err := Parse(env[:n]); err == nil {
					t.Fatalf("%x is read", env[:n])
				}
			}
		}
		d := msgpack.NewDecoder(bytes.NewReader(ours))
		if n, err := d.DecodeArrayLen(); err != nil || n != 4 {
			t.Fatalf("the other reader: array of %d, %v", n, err)
		}
		if b, err := d.DecodeBytes(); err != nil || !bytes.Equal(b, block) {
			t.Fatalf("the other reader: block %x, %v", b, err)
		}
		if n, err := d.DecodeArrayLen(); err != nil || n != 8 {
			t.Fatalf("the other reader: checksum of %d, %v", n, err)
		}
		var read uint64
		for range 8 {
			c, err := d.DecodeUint8()
			if err != nil {
				t.Fatal(err)
			}
			read = read<<8 | uint64(c)
		}
		n, err := d.DecodeUint32()
		if err != nil || n != size || read != sum {
			t.Fatalf("the other reader: checksum %x, size %d, %v", read, n, err)
		}
		if s, err := d.DecodeString(); err != nil || s != format {
			t.Fatalf("the other reader: label %q, %v", s, err)
		}
	})
}
