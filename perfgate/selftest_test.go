package main

import (
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

// TestSelftestDemands: what is not wholly as it should be does not pass, in
// either direction.
func TestSelftestDemands(t *testing.T) {
	row := func(name string, v gate.Verdict, was, now int64) report.Benchmark {
		a, b := gate.Slope(was, 0), gate.Slope(now, 0)
		return report.Benchmark{Name: name, Verdict: &v, Budget: &a, IrPerOp: &b}
	}
	ok1, ok2 := row("Channel", gate.OK, 10, 10), row("Map", gate.OK, 20, 20)
	unmeasured := row("Work", gate.Broken, 1000, 0)
	unmeasured.IrPerOp = nil
	unjudged := row("Work", gate.OK, 1000, 1000)
	unjudged.Verdict, unjudged.Budget = nil, nil
	outcomeOf := func(code, starts int, rows ...report.Benchmark) outcome {
		return outcome{code: code, document: &report.Document{Benchmarks: rows, Run: report.Run{ValgrindStarts: starts}}}
	}
	for _, tt := range []struct {
		name       string
		o          outcome
		equal, red bool
	}{
		{"equal", outcomeOf(0, 6, ok1, ok2, row("Work", gate.OK, 1000, 1000)), true, false},
		{"equal, but a failure", outcomeOf(1, 6, ok1, ok2, row("Work", gate.OK, 1000, 1000)), false, false},
		{"equal, from a store", outcomeOf(0, 5, ok1, ok2, row("Work", gate.OK, 1000, 1000)), false, false},
		{"ok, but not equal", outcomeOf(0, 6, ok1, ok2, row("Work", gate.OK, 1000, 1001)), false, false},
		{"nothing", outcomeOf(0, 6), false, false},
		{"one is missing", outcomeOf(0, 6, ok1, ok2), false, false},
		{"not measured", outcomeOf(1, 6, ok1, ok2, unmeasured), false, false},
		{"not judged", outcomeOf(0, 6, ok1, ok2, unjudged), false, false},
		{"red", outcomeOf(3, 6, ok1, ok2, row("Work", gate.Regressed, 1000, 1100)), false, true},
		{"red, but exit status 0", outcomeOf(0, 6, ok1, ok2, row("Work", gate.Regressed, 1000, 1100)), false, false},
		{"too little", outcomeOf(3, 6, ok1, ok2, row("Work", gate.Regressed, 1000, 1099)), false, false},
		{"warned", outcomeOf(3, 6, ok1, ok2, row("Work", gate.Warned, 1000, 1100)), false, false},
		{"another one", outcomeOf(3, 6, ok1, ok2, row("Idle", gate.Regressed, 1000, 1100)), false, false},
		{"another one too", outcomeOf(3, 6, ok1, row("Map", gate.Regressed, 20, 40), row("Work", gate.Regressed, 1000, 1100)), false, false},
		{"red, from a store", outcomeOf(3, 0, ok1, ok2, row("Work", gate.Regressed, 1000, 1100)), false, false},
	} {
		if got := tt.o.equal(); got != tt.equal {
			t.Errorf("%s: equal: got %v, want %v", tt.name, got, tt.equal)
		}
		if got := tt.o.red(); got != tt.red {
			t.Errorf("%s: red: got %v, want %v", tt.name, got, tt.red)
		}
	}
}
