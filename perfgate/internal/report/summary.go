package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// Summarize says in one line what a judgement with this exit status comes to:
// "pass" or "fail", and the counts that decided it. update is the command that
// lowers budgets, "" where there is none.
func (d *Document) Summarize(exit int, update string) {
	switch {
	case len(d.Benchmarks) == 0 && exit == gate.ExitOK:
		d.Summary = "pass: nothing to measure, the test binaries are those of " + d.Base
	case len(d.Benchmarks) == 0:
		d.Summary = "fail: nothing was judged"
	case exit == gate.ExitOK:
		d.Summary = "pass: " + d.passed(update)
	default:
		d.Summary = "fail: " + d.failed()
	}
}

// count returns how many rows have each verdict. A row without one is counted
// under 0.
func (d *Document) count() map[gate.Verdict]int {
	n := make(map[gate.Verdict]int)
	for _, b := range d.Benchmarks {
		n[b.verdict()]++
	}
	return n
}

// counts says how many rows of a judgement have which verdict, the worst first,
// to stand behind a heading. Of a run, which judges nothing, it is empty.
func (d *Document) counts() string {
	n := d.count()
	if n[0] > 0 || len(d.Benchmarks) == 0 {
		return ""
	}
	var parts []string
	for v := gate.Regressed; v <= gate.OK; v++ {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n[v], v))
		}
	}
	return "  " + plural(len(d.Benchmarks), "benchmark") + ": " + strings.Join(parts, ", ")
}

func (b *Benchmark) verdict() gate.Verdict {
	if b.Verdict == nil {
		return 0
	}
	return *b.Verdict
}

// unchanged returns how many benchmarks have just the instructions of their budgets.
func (d *Document) unchanged() int {
	n := 0
	for _, b := range d.Benchmarks {
		if b.verdict() == gate.OK && b.Budget != nil && *b.IrPerOp == *b.Budget {
			n++
		}
	}
	return n
}

func (d *Document) passed(update string) string {
	n := d.count()
	within := " within budget"
	if d.Base != "" {
		within = " within the limit of " + d.Base
	}
	parts := []string{plural(len(d.Benchmarks)-n[gate.New]-n[gate.Removed], "benchmark") + within}
	switch {
	case n[gate.Improved] > 0 && update != "":
		parts = append(parts, fmt.Sprintf("%s can be lowered: %s", plural(n[gate.Improved], "budget"), update))
	case n[gate.Improved] > 0:
		parts = append(parts, fmt.Sprintf("%d improved", n[gate.Improved]))
	}
	if n[gate.Warned] > 0 {
		parts = append(parts, fmt.Sprintf("%d near the limit", n[gate.Warned]))
	}
	for _, v := range []gate.Verdict{gate.New, gate.Removed} {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n[v], v))
		}
	}
	return strings.Join(parts, ", ")
}

// failed names what failed, worst first, and the first regressions.
func (d *Document) failed() string {
	n := d.count()
	var parts, worst []string
	for v := gate.Verdict(0); v <= gate.Improved; v++ {
		if n[v] == 0 || v == gate.Warned {
			continue
		}
		if len(parts) == 0 {
			parts = append(parts, fmt.Sprintf("%d of %s %v", n[v], plural(len(d.Benchmarks), "benchmark"), v))
		} else {
			parts = append(parts, fmt.Sprintf("%d %v", n[v], v))
		}
	}
	for _, b := range slices.SortedStableFunc(slices.Values(d.Benchmarks), naturally) {
		if b.verdict() == gate.Regressed {
			worst = append(worst, shorten(b.key().String(), 100)+b.worst())
		}
	}
	s := strings.Join(parts, ", ")
	if len(worst) > 0 {
		more := ""
		if len(worst) > 3 {
			more = ", ..."
		}
		s += " (" + strings.Join(worst[:min(3, len(worst))], ", ") + more + ")"
	}
	return s
}

// worst says what decided: " +4.52 %", or " 0 → 1 allocs/op".
func (b *Benchmark) worst() string {
	all := b.compared()
	switch {
	case len(all) == 0:
		return ""
	case all[0].Metric == gate.Ir:
		return " " + all[0].change()
	}
	was, now := figures(all[0].Metric, all[0].Budget, all[0].now)
	return " " + was + " → " + now + all[0].unit()
}
