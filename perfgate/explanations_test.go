package main

import (
	"slices"
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// TestMostChanged: the red rows come first, the largest change of each verdict
// first, and what changed in nothing but allocations not at all.
func TestMostChanged(t *testing.T) {
	budgets := gate.Budgets{Rows: make(map[gate.Key]gate.Budget)}
	var samples []gate.Sample
	add := func(name string, was, now, allocs int64) {
		k := gate.Key{Pkg: "m", Name: name}
		budgets.Rows[k] = gate.Budget{Ir: gate.Slope(was, 0), Allocs: gate.Slope(1, 0)}
		samples = append(samples, gate.Sample{Key: k, IrPerOp: gate.Slope(now, 0), AllocsPerOp: gate.Slope(allocs, 0), Lo: gate.Run{N: 2}, Hi: gate.Run{N: 3}})
	}
	add("ok", 1000, 1000, 1)
	add("improved", 1000, 500, 1)
	add("slow", 1000, 1100, 1)
	add("slower", 1000, 1200, 1)
	add("allocates", 1000, 1000, 5)
	add("better", 1000, 10, 1)
	rows := gate.Check(samples, budgets, func(gate.Key) bool { return true }).Rows
	for n, want := range [][]string{{}, {"slower"}, {"slower", "slow"}, {"slower", "slow", "better"}, 9: {"slower", "slow", "better", "improved"}} {
		if want == nil {
			continue
		}
		got := []string{}
		for _, r := range mostChanged(rows, n) {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d: got %q, want %q", n, got, want)
		}
	}
}
