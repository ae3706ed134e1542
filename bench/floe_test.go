package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	core "github.com/cachekit-go/cachekit/core/floe"

	"github.com/cachekit-go/cachekit/bench/floe"
)

// long are the operations with a budget for segments of 1 MiB too: the others
// only do more of the same there.
var long = []string{"BareSealInPlace", "BareOpenInPlace", "SealInPlace", "OpenInPlace", "EncryptWriter", "DecryptReader"}

// BenchmarkFloe has the operations of package bench/floe by the caller alone,
// into buffers that are there. A call is one segment, but for those over a whole
// message of eight.
func BenchmarkFloe(b *testing.B) {
	for _, op := range floe.Operations {
		for _, p := range []core.Params{core.Params4KiB, core.Params1MiB} {
			if strings.HasSuffix(op.Name, "NewBuffer") || p == core.Params1MiB && !slices.Contains(long, op.Name) {
				continue
			}
			c := floe.Case{Params: p, Segments: 8, Workers: 1}
			if p == core.Params4KiB && !op.Whole {
				c.Segments = 256 // a message does not end while one is counted
			}
			b.Run(fmt.Sprintf("%s/segment=%d", op.Name, p.SegmentLen()), func(b *testing.B) {
				call, err := op.New(c)
				must(b, err)
				b.SetBytes(int64(op.Bytes(c)))
				b.ReportAllocs()
				for b.Loop() {
					if err := call(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
