package gate

import (
	"fmt"
	"slices"
)

// Options of [Exit]. The zero value is the default.
type Options struct {
	NewAllowed     bool // a benchmark without a budget passes
	StaleFails     bool // a budget that is 1 % or more too high fails
	RemovedAllowed bool // a benchmark that is gone passes
	Same           bool // there are packages that needed no measuring
}

// A Row is one benchmark, judged.
type Row struct {
	Key
	Verdict Verdict       // the worst of its metrics, or why there is nothing to compare
	Decided Metric        // whose verdict it is, where counts were compared
	Metrics [3]Comparison // by [Metric], where there is a budget
	Sample  *Sample       // nil for Removed
	Budget  *Budget       // nil where there is none
	Reason  string        // why, for verdicts that are not a matter of numbers
	Notes   []string      // what else there is to know, a line each
}

// Compared reports whether counts were compared.
func (r *Row) Compared() bool { return r.Metrics[Ir].Verdict != unjudged }

// Deciding returns the metric whose verdict is the row's.
func (r *Row) Deciding() Comparison { return r.Metrics[r.Decided] }

// A Scope tells which budgets a run is about.
type Scope func(Key) bool

// A Judgement is what [Check] returns.
type Judgement struct {
	Base       string   // what was judged against, as in "base 3f2c1a9"; "" for the budgets of a file
	Rows       []Row    // sorted by key
	OutOfScope int      // budgets that the selection left out
	Notes      []string // differences of toolchain that did not decide
	Same       []string // packages that were not measured: their test binaries are the base's
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
		j.Rows = append(j.Rows, b.judge(s))
	}
	for _, k := range b.keys() {
		switch budget := b.Rows[k]; {
		case seen[k]:
		case !scope(k):
			j.OutOfScope++
		case list.partial(k):
			j.Rows = append(j.Rows, b.without(k, &budget, Broken, list.reason(k)))
		case budget.incomparable != "":
			j.OutOfScope++ // what another release measured says nothing about what exists here
		default:
			j.Rows = append(j.Rows, b.without(k, &budget, Removed, b.word("has a budget", "is in "+b.Base)+" and no longer exists"))
		}
	}
	slices.SortFunc(j.Rows, func(a, b Row) int { return a.Compare(b.Key) })
	j.Base, j.Notes, j.Same = b.Base, b.Notes, b.Same
	return j
}

// without is the row of a budget that has no sample.
func (b Budgets) without(k Key, budget *Budget, v Verdict, reason string) Row {
	r := Row{Key: k, Verdict: v, Reason: reason}
	if budget.Ir != 0 {
		r.Budget, r.Metrics = budget, b.uncompared(budget, nil)
	}
	return r
}

// word chooses between the words for budgets of a file and for those of a base.
func (b Budgets) word(file, base string) string {
	if b.Base == "" {
		return file
	}
	return base
}

func (b Budgets) judge(s *Sample) Row {
	r := Row{Key: s.Key, Sample: s}
	budget, ok := b.Rows[s.Key]
	if ok && budget.Ir != 0 {
		r.Budget, r.Metrics = &budget, b.uncompared(&budget, s)
	}
	fault := s.fault()
	name := b.word("the budget", b.Base)
	switch {
	case fault != nil:
		r.Verdict, r.Reason = fault.Verdict, fault.Reason
	case b.Missing != "":
		r.Verdict, r.Reason = Incomparable, b.Missing
	case !ok || budget.Ir == 0 && budget.incomparable == "":
		r.Verdict, r.Reason = New, b.lack(s.Key)
	case budget.incomparable != "":
		r.Verdict, r.Reason = Incomparable, budget.incomparable
	case budget.CGO != s.CGO:
		r.Verdict, r.Reason = Incomparable, fmt.Sprintf("%s is for CGO_ENABLED=%s, its package is now built with %s", name, cgoDigit(budget.CGO), cgoDigit(s.CGO))
	case budget.K != s.K:
		r.Verdict, r.Reason = Incomparable, fmt.Sprintf("measured with k=%d, %s with k=%d", s.K, name, budget.K)
	default:
		r.Metrics, r.Decided = b.compareAll(&budget, s)
		r.Verdict = r.Deciding().Verdict
		if r.Verdict == Regressed && budget.otherPatch != "" {
			r.Verdict, r.Reason = Incomparable, budget.otherPatch
		}
		r.Notes = b.notes(&r)
	}
	return r
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
