package lz4block

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	// A compressor and a judge that are not ours.
	"github.com/pierrec/lz4/v4"
)

// corpora returns inputs of n bytes of many kinds.
func corpora(t testing.TB, n int) map[string][]byte {
	t.Helper()
	return drawn(t, n, 9)
}

// drawn is corpora from another seed.
func drawn(t testing.TB, n int, seed uint64) map[string][]byte {
	t.Helper()
	r := rand.New(rand.NewPCG(9, seed))
	words := make([]string, 3000)
	for i := range words {
		w := make([]byte, 2+r.IntN(9))
		for j := range w {
			w[j] = "etaoinshrdlucmfw"[r.IntN(16)]
		}
		words[i] = string(w)
	}
	// word draws the first words more often than the last.
	word := func() string {
		f := r.Float64()
		return words[int(float64(len(words))*f*f*f)]
	}
	fill := func(next func(i int) []byte) []byte {
		var b []byte
		for i := 0; len(b) < n; i++ {
			b = append(b, next(i)...)
		}
		return b[:n]
	}
	random := fill(func(int) []byte { return binary.LittleEndian.AppendUint64(nil, r.Uint64()) })
	alphabet := func(a string) []byte {
		b := bytes.Clone(random)
		for i, c := range b {
			b[i] = a[int(c)%len(a)]
		}
		return b
	}
	var files []byte
	for _, f := range []string{"encode.go", "decode.go", "../../testdata/cachekit/README.md", "../../testdata/cachekit/crate-0.7.2.json"} {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b...)
	}
	return map[string][]byte{
		"text":  fill(func(int) []byte { return []byte(word() + " ") }),
		"files": fill(func(int) []byte { return files }),
		"json": fill(func(i int) []byte {
			b, err := json.Marshal(map[string]any{"id": r.IntN(1e9), "name": word(), "email": word() + "@example.com",
				"active": i%2 == 0, "score": r.Float64(), "tags": []string{word(), word()}})
			if err != nil {
				t.Fatal(err)
			}
			return append(b, ',')
		}),
		"binary": fill(func(i int) []byte {
			b := binary.LittleEndian.AppendUint32(nil, uint32(i))
			b = binary.LittleEndian.AppendUint16(b, uint16(r.IntN(100)))
			return binary.LittleEndian.AppendUint64(append(b, 0, 0, 1, 2), uint64(i)*1e6+r.Uint64N(1e6))
		}),
		"records": fill(func(i int) []byte {
			s := fmt.Sprintf("\x87\xa2id\xce%s\xa4user\xabuser_%06x\xa5email\xb2u%05d@example%d.com\xa5score\xcb%s\xa6active%s\xa4tags\x92\xa4free\xa2%s\xaacreated_at\xb42026-%02d-%02dT%02d:%02d:00Z",
				binary.BigEndian.AppendUint32(nil, uint32(i)), r.IntN(1<<24), r.IntN(1e5), r.IntN(7), binary.BigEndian.AppendUint64(nil, r.Uint64N(1e4)<<40),
				[]string{"\xc2", "\xc3"}[r.IntN(2)], []string{"eu", "us"}[r.IntN(2)], 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60))
			return []byte(s)
		}),
		"random": random,
		"hex":    alphabet("0123456789abcdef"),
		"four":   alphabet("acgt"),
		"two":    alphabet("ab"),
		"zeros":  make([]byte, n),
		"period": fill(func(int) []byte { return random[:min(n, 40_000)] }),
		"far":    fill(func(int) []byte { return random[:min(n, maxOffset)] }),
		"toofar": fill(func(int) []byte { return random[:min(n, maxOffset+1)] }),
		"ramp":   fill(func(i int) []byte { return []byte{byte(i)} }),
		"half":   append(bytes.Clone(random[:n/2]), bytes.Repeat([]byte{' '}, n-n/2)...),
		"mixed": fill(func(i int) []byte {
			return append([]byte(strings.Repeat(word(), 1+r.IntN(9))), random[i%n:min(n, i%n+r.IntN(99))]...)
		}),
	}
}

// roundTrip encodes src and has both decoders, and the rules for the end of a
// block, judge the result. It returns the block's length.
func roundTrip(t testing.TB, src []byte) int {
	t.Helper()
	bound := Bound(len(src))
	buf := bytes.Repeat([]byte{0xa5}, bound+64)
	keep := bytes.Clone(src)
	n := Encode(buf[32:32+bound], src)
	block := buf[32 : 32+n]
	if !bytes.Equal(src, keep) {
		t.Fatalf("Encode of %d bytes wrote to its input", len(src))
	}
	for i := range 32 {
		if buf[i] != 0xa5 || buf[32+bound+i] != 0xa5 {
			t.Fatalf("Encode of %d bytes wrote outside", len(src))
		}
	}
	got := make([]byte, len(src))
	if k, ok := Decode(got, block); !ok || !bytes.Equal(got[:k], src) {
		t.Fatalf("Encode of %d bytes: Decode gives %d, %v", len(src), k, ok)
	}
	clear(got)
	if k, err := lz4.UncompressBlock(block, got); err != nil || !bytes.Equal(got[:k], src) {
		t.Fatalf("Encode of %d bytes: pierrec gives %d, %v", len(src), k, err)
	}
	if n, ok := Len(block, len(src)); !ok || n != len(src) {
		t.Fatalf("Encode of %d bytes: Len is %d, %v", len(src), n, ok)
	}
	checkEnd(t, block, len(src))
	again := make([]byte, bound)
	if k := Encode(again, src); !bytes.Equal(again[:k], block) {
		t.Fatalf("Encode of %d bytes gives another block the second time", len(src))
	}
	return n
}

// checkEnd fails if a match starts in the last 12 bytes or reaches into the
// last 5, or the last token has a match.
func checkEnd(t testing.TB, block []byte, size int) {
	t.Helper()
	s, d := 0, 0
	length := func(n int) int {
		for c := byte(255); n >= 15 && c == 255; s++ {
			c = block[s]
			n += int(c)
		}
		return n
	}
	for {
		token := block[s]
		s++
		lit := length(int(token >> 4))
		s += lit
		d += lit
		if s == len(block) {
			if token&15 != 0 {
				t.Fatalf("the last token is %x", token)
			}
			return
		}
		s += 2
		match := minMatch + length(int(token&15))
		if d > size-matchLimit || d+match > size-lastLiterals {
			t.Fatalf("a match of %d bytes at %d of %d", match, d, size)
		}
		d += match
	}
}

func TestEncodeCorpora(t *testing.T) {
	for name, all := range corpora(t, 150_000) {
		for n := 0; n <= len(all); n += 1 + n/3 {
			roundTrip(t, all[:n])
			roundTrip(t, all[(len(all)-n)/2:][:n])
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestEncodeSizes(t *testing.T) {
	// Every size around those at which the table changes, and every small one.
	all := corpora(t, 70_000)
	for _, name := range []string{"records", "random", "zeros", "four"} {
		for n := range 400 {
			roundTrip(t, all[name][:n])
		}
		for _, mid := range []int{1024, 8 << 10, 64 << 10} {
			for n := mid - 3; n <= mid+3; n++ {
				roundTrip(t, all[name][:n])
			}
		}
	}
}

// The worst that can happen is one run of literals.
func TestEncodeBound(t *testing.T) {
	src := corpora(t, 70_000)["random"]
	for n := 0; n < len(src); n += 1 + n/50 {
		want := 1 + n
		if n >= 15 {
			want = 2 + n + (n-15)/255
		}
		if got := roundTrip(t, src[:n]); got != want || got > Bound(n) {
			t.Errorf("%d random bytes: block of %d, want %d", n, got, want)
		}
	}
	defer func() {
		if r := recover(); !strings.HasPrefix(fmt.Sprint(r), "lz4block: ") {
			t.Errorf("recovered %v", r)
		}
	}()
	Encode(make([]byte, Bound(100)-1), src[:100])
	t.Error("a short destination is accepted")
}

// No ratio may be more than 0.03 above pierrec's; the payload of the budgets has
// ratios of its own.
func TestEncodeRatio(t *testing.T) {
	if testing.Short() {
		t.Skip("a megabyte of each kind")
	}
	sizes := []int{100, 150, 250, 1000, 3000, 8 << 10, 8<<10 + 1, 30_000, 64 << 10, 64<<10 + 1, 200_000, 1 << 20}
	for seed, total := range []int{1 << 20, 70_000, 70_000} {
		for name, all := range drawn(t, total, 9+uint64(seed)) {
			for _, n := range sizes {
				if n > total {
					break
				}
				for _, src := range [][]byte{all[:n], all[(len(all)-n)/2:][:n]} {
					buf := make([]byte, Bound(n))
					ours := float64(Encode(buf, src)) / float64(n)
					m, err := lz4.CompressBlock(src, buf, nil)
					if err != nil {
						t.Fatal(err)
					}
					if m == 0 {
						m = n // what it does not compress it leaves to the caller
					}
					if theirs := float64(m) / float64(n); ours > theirs+0.03 {
						t.Errorf("%s of %d bytes, seed %d: ratio %.4f, pierrec's %.4f", name, n, seed, ours, theirs)
					}
				}
			}
		}
	}
	for n, max := range map[int]float64{1024: 0.585, 65536: 0.380} {
		src, err := os.ReadFile(fmt.Sprintf("../../../bench/testdata/perf-payload-%d.bin", n))
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(roundTrip(t, src)) / float64(n); got > max {
			t.Errorf("records of %d bytes: ratio %.4f, want at most %.3f", n, got, max)
		}
	}
}

// FuzzEncode has each side decode the other's blocks.
func FuzzEncode(f *testing.F) {
	for _, src := range corpora(f, 400) {
		f.Add(src, uint8(1))
	}
	f.Add([]byte("abcdefgh"), uint8(200))
	f.Fuzz(func(t *testing.T, src []byte, times uint8) {
		roundTrip(t, src)
		src = bytes.Repeat(src, int(times))
		roundTrip(t, src)
		block := make([]byte, lz4.CompressBlockBound(len(src)))
		n, err := lz4.CompressBlock(src, block, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(src))
		// Where 0 is the length of the block, there is none.
		if k, ok := Decode(got, block[:n]); n > 0 && (!ok || !bytes.Equal(got[:k], src)) {
			t.Fatalf("pierrec's block of %d bytes: Decode gives %d, %v", len(src), k, ok)
		}
	})
}
