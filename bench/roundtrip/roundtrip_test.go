package roundtrip

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// sizes are the payload sizes in bytes.
var sizes = []int{64, 256, 1024, 4096, 16384, 65536}

// corpora are the kinds of data, each the first n bytes of one stream. Spec
// sections 12 and 13.
var corpora = []struct {
	name string
	make func(tb testing.TB, n int) []byte
}{
	{"ramp", ramp},
	{"records", records},
	{"incompressible", incompressible},
}

// ramp returns the numbers from 0 to 255, over and over.
func ramp(_ testing.TB, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// records returns the payload of the budgets. A shorter one is its beginning.
func records(tb testing.TB, n int) []byte {
	b, err := os.ReadFile("../testdata/perf-payload-65536.bin")
	if err != nil {
		tb.Fatal(err)
	}
	return b[:n:n]
}

// incompressible returns the numbers of a xorshift64* generator.
func incompressible(_ testing.TB, n int) []byte {
	state := uint64(0x9e3779b97f4a7c15)
	b := make([]byte, 0, n+8)
	for len(b) < n {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		b = binary.LittleEndian.AppendUint64(b, state*0x2545f4914f6cdd1d)
	}
	return b[:n:n]
}

// BenchmarkRoundtrip stores and retrieves. Beside the time it reports the
// block's bytes for each byte of the payload.
func BenchmarkRoundtrip(b *testing.B) {
	for _, c := range corpora {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("data=%s/size=%d", c.name, n), func(b *testing.B) {
				payload := c.make(b, n)
				ratio, err := cachekit.EstimateRatio(payload)
				if err != nil {
					b.Fatal(err)
				}
				env := make([]byte, 0, n+n/255+64)
				var got []byte
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					if env, err = cachekit.Store(env[:0], payload); err != nil {
						b.Fatal(err)
					}
					if got, _, err = cachekit.Retrieve(got[:0], env); err != nil {
						b.Fatal(err)
					}
				}
				if !bytes.Equal(got, payload) {
					b.Fatalf("got %d bytes, which are not the payload", len(got))
				}
				b.ReportMetric(1/ratio, "block/payload")
			})
		}
	}
}

func TestCorpora(t *testing.T) {
	if got := hex.EncodeToString(incompressible(t, 16)); got != "99259a8ca2d103745ecb8eab39f370dd" {
		t.Errorf("the incompressible stream begins %s", got)
	}
	for _, c := range corpora {
		for _, n := range sizes {
			payload := c.make(t, n)
			if len(payload) != n {
				t.Fatalf("%s: %d bytes, want %d", c.name, len(payload), n)
			}
			ratio, err := cachekit.EstimateRatio(payload)
			if err != nil || (ratio < 1) != (c.name == "incompressible") && n > 256 {
				t.Errorf("%s of %d bytes: ratio %v, %v", c.name, n, ratio, err)
			}
		}
	}
}
