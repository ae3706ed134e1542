package report

import "github.com/cachekit-go/cachekit/perfgate/internal/gate"

// Samples returns the counts of d, a document of [New], as they were before.
func (d *Document) Samples() []gate.Sample {
	totals := make(map[gate.Key]Total)
	for _, t := range d.Run.Totals {
		totals[gate.Key{Pkg: t.Pkg, Name: t.Name}] = t
	}
	var samples []gate.Sample
	for _, b := range d.Benchmarks {
		t, ok := totals[b.key()]
		if b.IrPerOp == nil || b.Verdict != nil || !ok {
			continue
		}
		samples = append(samples, gate.Sample{
			Key: b.key(), K: *b.K, IrPerOp: *b.IrPerOp, AllocsPerOp: *b.AllocsPerOp, BytesPerOp: *b.BytesPerOp, CGO: b.CGO == "1",
			Lo: gate.Run{N: t.LowN, Ir: t.LowIr}, Hi: gate.Run{N: t.HighN, Ir: t.HighIr},
		})
	}
	return samples
}

// AddUncounted adds a benchmark that exists and was not measured.
func (d *Document) AddUncounted(k gate.Key) {
	gone := gate.Removed
	d.Benchmarks = append(d.Benchmarks, Benchmark{Pkg: k.Pkg, Name: k.Name, Verdict: &gone, Reason: "only here"})
}

// Uncounted returns the benchmarks that [Document.AddUncounted] added.
func (d *Document) Uncounted() []gate.Key {
	var keys []gate.Key
	for _, b := range d.Benchmarks {
		if b.Verdict != nil && *b.Verdict == gate.Removed {
			keys = append(keys, b.key())
		}
	}
	return keys
}
