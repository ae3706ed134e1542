package report

import (
	"encoding/json"
	"io"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// WriteBencher writes d in the Bencher Metric Format, for "bencher run --adapter
// json": by the full name of a benchmark, as in "example.com/m.BenchmarkStore",
// the measures instructions, allocations and allocated-bytes per operation. Rows
// without an exact count are left out.
//
// See https://bencher.dev/docs/reference/bencher-metric-format.
func (d *Document) WriteBencher(w io.Writer) error {
	type metric struct {
		Value gate.PerOp `json:"value"`
	}
	all := make(map[string]map[string]metric)
	for _, b := range d.Benchmarks {
		if b.exact() {
			all[b.Pkg+".Benchmark"+b.Name] = map[string]metric{
				"instructions": {*b.IrPerOp}, "allocations": {*b.AllocsPerOp}, "allocated-bytes": {*b.BytesPerOp},
			}
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

// exact reports whether b has a count that repeats.
func (b *Benchmark) exact() bool { return b.IrPerOp != nil && b.verdict() != gate.Unstable }
