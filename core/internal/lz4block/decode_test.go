package lz4block

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	// A compressor and a judge that are not ours.
	"github.com/pierrec/lz4/v4"
)

var errSimple = errors.New("invalid block")

// simpleDecode is the decoder rules of spec section 1 written down as plainly
// as possible, a byte at a time.
func simpleDecode(src []byte, limit int) (out []byte, err error) {
	next := func() (byte, bool) {
		if len(src) == 0 {
			return 0, false
		}
		c := src[0]
		src = src[1:]
		return c, true
	}
	length := func(n int) (int, bool) {
		if n < 15 {
			return n, true
		}
		for {
			c, ok := next()
			if !ok || n > 1<<30 {
				return 0, false
			}
			n += int(c)
			if c != 255 {
				return n, true
			}
		}
	}
	for {
		token, ok := next()
		if !ok {
			return nil, errSimple
		}
		n, ok := length(int(token >> 4))
		if !ok {
			return nil, errSimple
		}
		for range n {
			c, ok := next()
			if !ok || len(out) == limit {
				return nil, errSimple
			}
			out = append(out, c)
		}
		if len(src) == 0 {
			return out, nil
		}
		lo, _ := next()
		hi, ok := next()
		offset := int(lo) | int(hi)<<8
		if !ok || offset == 0 || offset > len(out) {
			return nil, errSimple
		}
		n, ok = length(int(token & 15))
		if !ok {
			return nil, errSimple
		}
		for range n + minMatch {
			if len(out) == limit {
				return nil, errSimple
			}
			out = append(out, out[len(out)-offset])
		}
	}
}

// check compares Len and Decode with the simple decoder.
func check(t *testing.T, src []byte, limit int) {
	t.Helper()
	want, err := simpleDecode(src, limit)
	if n, ok := Len(src, limit); ok != (err == nil) || n != len(want) {
		t.Fatalf("Len(%x, %d) = %d, %v, want %d, %v", src, limit, n, ok, len(want), err)
	}
	// Bytes around dst must survive.
	buf := bytes.Repeat([]byte{0xa5}, limit+64)
	n, ok := Decode(buf[32:32+limit:32+limit], src)
	if ok != (err == nil) || n != len(want) || ok && !bytes.Equal(buf[32:32+n], want) {
		t.Fatalf("Decode(%x) into %d = %d, %v, want %d, %v", src, limit, n, ok, len(want), err)
	}
	for i := range 32 {
		if buf[i] != 0xa5 || buf[32+limit+i] != 0xa5 {
			t.Fatalf("Decode(%x) into %d wrote outside", src, limit)
		}
	}
}

func TestDecodeTable(t *testing.T) {
	for _, v := range []struct {
		name, src string
		limit     int
	}{
		{"empty block", "", 10},
		{"empty output", "\x00", 10},
		{"last token's low half", "\x0f", 0},
		{"ends on a match", "\x10a\x01\x00", 10},
		{"then an empty token", "\x10a\x01\x00\x00", 10},
		{"two empty tokens", "\x30abc\x00\x00", 10},
		{"offset 0", "\x10a\x00\x00\x00", 10},
		{"offset too far", "\x10a\x02\x00\x00", 10},
		{"extension past int32", "\x10a\x01\x00" + string(bytes.Repeat([]byte{255}, 1000)), 10},
	} {
		for limit := range v.limit + 1 {
			check(t, []byte(v.src), limit)
		}
	}
}

// randomBlock makes a block of random sequences, most of them valid.
func randomBlock(r *rand.Rand) (src []byte, size int) {
	ext := func(n int) {
		for n -= 15; n >= 255; n -= 255 {
			src = append(src, 255)
		}
		src = append(src, byte(n))
	}
	length := func() int {
		switch r.IntN(8) {
		case 0:
			return 0
		case 1:
			return 13 + r.IntN(5)
		case 2:
			return r.IntN(600)
		default:
			return r.IntN(20)
		}
	}
	for range r.IntN(20) + 1 {
		lit, match := length(), length()
		at := len(src)
		src = append(src, 0)
		if lit >= 15 {
			ext(lit)
		}
		for range lit {
			src = append(src, byte(r.IntN(256)))
		}
		size += lit
		offset := 1 + r.IntN(max(size, 1))
		if r.IntN(3) == 0 {
			offset = 1 + r.IntN(min(max(size, 1), 40))
		}
		if size == 0 || r.IntN(100) == 0 {
			offset = r.IntN(70000) // likely a fault
		}
		src = append(src, byte(offset), byte(offset>>8))
		if match >= 15 {
			ext(match)
		}
		size += match + minMatch
		src[at] = byte(min(lit, 15)<<4 | min(match, 15))
	}
	lit := length()
	src = append(src, byte(min(lit, 15)<<4|r.IntN(16)))
	if lit >= 15 {
		ext(lit)
	}
	for range lit {
		src = append(src, byte(r.IntN(256)))
	}
	return src, size + lit
}

func TestDecodeRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for range 3000 {
		src, size := randomBlock(r)
		for _, limit := range []int{size, size + 1, size + 100, max(size-1, 0), size / 2} {
			check(t, src, limit)
		}
		if _, ok := Len(src, size); ok {
			valid++
		}
		for range 20 {
			bad := bytes.Clone(src)
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			check(t, bad, size+r.IntN(50))
			check(t, src[:r.IntN(len(src)+1)], size)
		}
	}
	if valid < 1000 {
		t.Errorf("only %d of 3000 blocks are valid", valid)
	}
}

func TestDecodePierrec(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 0; n < 20000; n += 1 + n/20 {
		src := make([]byte, n)
		for i := range src {
			src[i] = byte(r.IntN(1 + i%7))
		}
		block := make([]byte, lz4.CompressBlockBound(n))
		m, err := lz4.CompressBlock(src, block, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, n)
		if k, ok := Decode(got, block[:m]); !ok || k != n || !bytes.Equal(got, src) {
			t.Fatalf("%d bytes: got %d, %v", n, k, ok)
		}
		if k, ok := Len(block[:m], n); !ok || k != n {
			t.Fatalf("%d bytes: length %d, %v", n, k, ok)
		}
	}
}

// Distances up to the farthest, 65,535.
func TestDecodeFar(t *testing.T) {
	for _, n := range []int{65534, 65535, 65536} {
		lits := make([]byte, n)
		for i := range lits {
			lits[i] = byte(i * i >> 3)
		}
		src := append([]byte{0xf0}, bytes.Repeat([]byte{255}, (n-15)/255)...)
		src = append(append(src, byte((n-15)%255)), lits...)
		src = append(src, 0xff, 0xff, 0x00)
		check(t, src, n+100)
	}
}

// FuzzDecode compares Decode and Len with the simple decoder.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"\x30abc", "\x0f", "\x10a\x01\x00", "\x10a\x01\x00\x10b", "\x40abcd\x04\x00\x5012345",
		"\x1fx\x01\x00\xff\xff\x0a\x50123345", "\x10a\x00\x00\x50123345", "\xf0\x00aaaaaaaaaaaaaaa"} {
		f.Add([]byte(s), uint16(1000))
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		src, size := randomBlock(r)
		f.Add(src, uint16(size))
	}
	f.Fuzz(func(t *testing.T, src []byte, limit uint16) { check(t, src, int(limit)) })
}
