package bench

import (
	"fmt"
	"testing"

	core "github.com/cachekit-go/cachekit/core/floe"

	"github.com/cachekit-go/cachekit/bench/floe"
)

// BenchmarkFloe has the operations of package bench/floe by the caller alone. A
// call is one segment, but for those over a whole message.
func BenchmarkFloe(b *testing.B) {
	for _, op := range floe.Operations {
		for _, p := range []core.Params{core.Params4KiB, core.Params1MiB} {
			c := floe.Case{Params: p, Segments: 8, Workers: 1}
			switch {
			case p == core.Params1MiB && op.Whole:
				c.Segments = 2 // AES under valgrind is slow
			case p == core.Params4KiB && !op.Whole:
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
