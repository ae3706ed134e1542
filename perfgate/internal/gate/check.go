package gate

import (
	"fmt"
	"slices"
)

// The limits that hold where a budget has none of its own.
const (
	DefaultLimit Percent = 1_0000 // fail at +1 % or more; -1 % or less makes a budget stale
	DefaultWarn  Percent = 2000   // warn from +0.2 %
)

// Options of [Check]. The zero value is the default.
type Options struct {
	NewAllowed bool // a benchmark without a budget passes
	StaleFails bool // a budget that is 1 % or more too high fails
}

// A Row is one benchmark, judged.
type Row struct {
	Key
	Verdict Verdict
	Sample  *Sample // nil for Removed
	Budget  *Budget // nil where there is none
	Delta   Percent // change against the budget, where there are both
	Limit   Percent // the limit in force, where there is a budget
	Reason  string  // why, for verdicts that are not a matter of numbers
}

// HasDelta reports whether the row compares two counts.
func (r Row) HasDelta() bool {
	switch r.Verdict {
	case OK, Warned, Improved, Regressed:
		return true
	}
	return r.Verdict == Incomparable && r.Delta != 0
}

// A Scope tells which budgets a run is about.
type Scope func(Key) bool

// A Judgement is what [Check] returns.
type Judgement struct {
	Rows       []Row    // sorted by key
	OutOfScope int      // budgets that the selection left out
	Notes      []string // differences of toolchain that did not decide
}

// Check judges samples against budgets: a row for each sample, and one for each
// budget in scope that has no sample.
//
// A sample with a fault gets the fault's verdict, whatever the budgets are. A
// benchmark without a sample is not removed but broken if its package is, or a
// benchmark of its function: what was to come after may not have run.
// Budgets of another target or Go release make every other row incomparable.
// Budgets of another patch release are compared, but a regression against them
// is incomparable too: the code of the toolchain differs.
func Check(samples []Sample, b Budgets, scope Scope) Judgement {
	var j Judgement
	list := listed(samples)
	seen := make(map[Key]bool)
	for i := range samples {
		s := &samples[i]
		seen[s.Key] = true
		j.Rows = append(j.Rows, judge(s, b))
	}
	for _, k := range b.keys() {
		switch budget := b.Rows[k]; {
		case seen[k]:
		case !scope(k):
			j.OutOfScope++
		case list.partial(k):
			j.Rows = append(j.Rows, Row{Key: k, Verdict: Broken, Budget: &budget, Limit: budget.limit(), Reason: list.reason(k)})
		case budget.incomparable != "":
			j.OutOfScope++ // what another release measured says nothing about what exists here
		default:
			j.Rows = append(j.Rows, Row{Key: k, Verdict: Removed, Budget: &budget, Limit: budget.limit(), Reason: "has a budget and no longer exists"})
		}
	}
	slices.SortFunc(j.Rows, func(a, b Row) int { return a.Compare(b.Key) })
	j.Notes = b.Notes
	return j
}

func judge(s *Sample, b Budgets) Row {
	r := Row{Key: s.Key, Sample: s}
	budget, ok := b.Rows[s.Key]
	if ok {
		r.Budget, r.Limit = &budget, budget.limit()
	}
	fault := s.fault()
	switch {
	case fault != nil:
		r.Verdict, r.Reason = fault.Verdict, fault.Reason
	case b.Missing != "":
		r.Verdict, r.Reason = Incomparable, b.Missing
	case !ok:
		r.Verdict, r.Reason = New, "no budget"
	case budget.incomparable != "":
		r.Verdict, r.Reason = Incomparable, budget.incomparable
	case budget.CGO != s.CGO:
		r.Verdict, r.Reason = Incomparable, fmt.Sprintf("the budget is for CGO_ENABLED=%s, its package is now built with %s", cgoDigit(budget.CGO), cgoDigit(s.CGO))
	case budget.K != s.K:
		r.Verdict, r.Reason = Incomparable, fmt.Sprintf("measured with k=%d, the budget with k=%d", s.K, budget.K)
	default:
		r.Delta = Change(budget.Ir, s.IrPerOp)
		r.Verdict = compare(budget.Ir, s.IrPerOp, r.Limit)
		if r.Verdict == Regressed && budget.otherPatch != "" {
			r.Verdict, r.Reason = Incomparable, budget.otherPatch
		}
	}
	return r
}

// compare judges two counts of one benchmark.
func compare(was, now PerOp, limit Percent) Verdict {
	switch {
	case cmpChange(was, now, limit) >= 0:
		return Regressed
	case cmpChange(was, now, -limit) <= 0:
		return Improved
	case cmpChange(was, now, min(DefaultWarn, limit)) >= 0:
		return Warned
	}
	return OK
}

func pow10(k int) int {
	n := 1
	for range k {
		n *= 10
	}
	return n
}

func cgoDigit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}
