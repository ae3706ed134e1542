package floe

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
)

// cases are segments of 4 KiB and of 1 MiB, in messages of 4 MiB.
var cases = []Case{
	{floe.Params4KiB, 1024, 1},
	{floe.Params1MiB, 4, 1},
}

// Every operation gives the right answer, or New fails.
func TestOperations(t *testing.T) {
	for _, c := range append(cases, Case{floe.Params4KiB, 3, 1}) {
		for _, workers := range []int{1, 3} {
			c.Workers = workers
			for _, op := range Operations {
				call, err := op.New(c)
				if err != nil {
					t.Errorf("%s, %+v: %v", op.Name, c, err)
					continue
				}
				for range 5 {
					if err := call(); err != nil {
						t.Errorf("%s, %+v: %v", op.Name, c, err)
					}
				}
				if op.Bytes(c) <= 0 {
					t.Errorf("%s, %+v: handles %d bytes", op.Name, c, op.Bytes(c))
				}
			}
		}
	}
}

// BenchmarkFloe has all operations, by the caller alone and by a worker for each
// processor.
func BenchmarkFloe(b *testing.B) {
	for _, c := range cases {
		for _, op := range Operations {
			for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
				if c.Workers = workers; workers > 1 && !op.Parallel {
					continue
				}
				b.Run(fmt.Sprintf("%s/segment=%d/workers=%d", op.Name, c.Params.SegmentLen(), workers), func(b *testing.B) {
					call, err := op.New(c)
					if err != nil {
						b.Fatal(err)
					}
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
}
