package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"testing"
)

// sizes are the payload sizes in bytes.
var sizes = []int{64, 1024, 65536}

// records returns the first n bytes of an endless stream of MessagePack
// records, each a map of seven fields drawn from a xorshift64 generator. Spec
// section 13.
func records(n int) []byte {
	var (
		state uint64 = 0x2545f4914f6cdd1d
		tags         = [7]string{"free", "pro", "trial", "eu", "us", "beta", "admin"}
		b     []byte
	)
	str := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		b = append(append(b, 0xa0|byte(len(s))), s...)
	}
	for id := uint32(1); len(b) < n; id++ {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		b = append(b, 0x87)
		str("id")
		b = binary.BigEndian.AppendUint32(append(b, 0xce), 1_000_000+id)
		str("user")
		str("user_%x", state%0xffffff)
		str("email")
		str("u%d@example%d.com", state%100000, state%7)
		str("score")
		b = binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(float64(state%10000)/100))
		str("active")
		if state%3 != 0 {
			b = append(b, 0xc3)
		} else {
			b = append(b, 0xc2)
		}
		str("tags")
		b = append(b, 0x90|byte(state%4))
		for i := range state % 4 {
			str("%s", tags[state>>(8*i)%7])
		}
		str("created_at")
		str("2026-%02d-%02dT%02d:%02d:%02dZ", 1+state%12, 1+state>>8%28, state>>16%24, state>>24%60, state>>32%60)
	}
	return b[:n:n]
}

// The generator, the files and the sums of spec section 13 must agree: a
// payload that drifts takes the budgets with it.
func TestPayloads(t *testing.T) {
	for size, want := range map[int]string{
		64:    "95227e7d654d55813a4b73fee0b0d3ee8283c2e36564c7c4967783425a5f2808",
		1024:  "9239805e80b948a09dd0b74ffd426a0ae0c5ade7393e01713038abe8c46b1d5c",
		65536: "80e34e5e0813fc0810252d71b042902bbc03a63b2012addbee40b094a9511945",
	} {
		file, err := os.ReadFile(fmt.Sprintf("testdata/perf-payload-%d.bin", size))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(file)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("sha256 of the file of %d bytes is %s, want %s", size, got, want)
		}
		if !bytes.Equal(records(size), file) {
			t.Errorf("the generator's %d bytes are not the file's", size)
		}
	}
}
