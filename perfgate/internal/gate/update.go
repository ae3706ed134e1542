package gate

import (
	"errors"
	"fmt"
	"slices"
)

// UpdateOptions of [File.Update]. The zero value ratchets down only.
type UpdateOptions struct {
	AllowIncrease bool
	Reason        string // required with AllowIncrease, recorded with each row that is raised

	// Limits of their own for all that is measured. 0 takes one away, and a
	// metric that is not in it keeps what it has.
	Limits map[Metric]Percent
}

// An Action is what [File.Update] did with one benchmark.
type Action uint8

// The actions. Kept means measured higher and left alone, Limited that only its
// limits changed.
const (
	Unchanged Action = iota + 1
	Limited
	Added
	Lowered
	Raised
	Dropped
	Kept
	Unmeasured
)

var actionNames = [...]string{Unchanged: "unchanged", Limited: "limit", Added: "added", Lowered: "lowered", Raised: "raised", Dropped: "removed", Kept: "kept", Unmeasured: "not recorded"}

func (a Action) String() string { return actionNames[a] }

// A Step is one benchmark's part in an update.
type Step struct {
	Key
	Action  Action
	Old     *Budget // nil if it had none
	New     *Budget // what stands in the file now; nil if nothing does
	Sample  *Sample // nil for Dropped; has a Fault if it is Unmeasured
	Verdict Verdict // of the sample against the old budget
	Over    bool    // the sample is over what stands in the file now
}

// ErrOtherToolchain is wrapped by the error of an [File.Update] that would mix
// the counts of two toolchains in one set.
var ErrOtherToolchain = errors.New("budgets of another toolchain")

// Update ratchets the budgets of target t: it adds what is new, lowers what
// became cheaper, drops what is in scope and gone, and leaves everything else,
// the stored K included. Rows that cost more are raised only with
// AllowIncrease; a sample with a fault changes nothing, and one that is broken
// does not let go what its package or function may still have.
//
// A set holds counts of one toolchain. If tc is not the set's, Update fails
// with [ErrOtherToolchain] unless AllowIncrease is set and the samples replace
// every row of the set: each is measured, or in scope and gone. Where Update
// fails, f is as it was.
func (f *File) Update(t Target, tc Toolchain, samples []Sample, scope Scope, o UpdateOptions) ([]Step, error) {
	if o.AllowIncrease != (o.Reason != "") {
		return nil, errors.New("-allow-increase and -reason go together")
	}
	if err := f.adopt(t, tc, samples, scope, o); err != nil {
		return nil, err
	}
	var steps []Step
	old := f.Budgets(t, tc)
	present := make(map[Key]bool)
	list := listed(samples)
	for i := range samples {
		s := &samples[i]
		present[s.Key] = true
		steps = append(steps, f.ratchet(t, tc, s, old, o))
	}
	for _, k := range old.keys() {
		if present[k] || list.partial(k) || !scope(k) {
			continue
		}
		b := old.Rows[k]
		delete(f.find(t.withCGO(b.CGO)).Rows, k)
		steps = append(steps, Step{Key: k, Action: Dropped, Old: &b, Verdict: Removed})
	}
	f.Sets = slices.DeleteFunc(f.Sets, func(s Set) bool { return len(s.Rows) == 0 })
	slices.SortFunc(steps, func(a, b Step) int { return a.Compare(b.Key) })
	return steps, nil
}

// SameToolchain returns an [ErrOtherToolchain] if the sets of t, with and without
// cgo, are not all of toolchain tc: an update that may not raise fails then.
func (f *File) SameToolchain(t Target, tc Toolchain) error {
	for _, cgo := range []bool{false, true} {
		if set := f.find(t.withCGO(cgo)); set != nil && set.Toolchain != tc {
			return fmt.Errorf("%w: recorded with %s and valgrind %s, this is %s and valgrind %s",
				ErrOtherToolchain, set.Go, set.Valgrind, tc.Go, tc.Valgrind)
		}
	}
	return nil
}

// adopt makes the sets of t, with and without cgo, sets of toolchain tc, if that
// is allowed.
func (f *File) adopt(t Target, tc Toolchain, samples []Sample, scope Scope, o UpdateOptions) error {
	if !o.AllowIncrease {
		return f.SameToolchain(t, tc)
	}
	measured, present, list := make(map[Key]bool), make(map[Key]bool), listed(samples)
	for i := range samples {
		present[samples[i].Key] = true
		measured[samples[i].Key] = samples[i].fault() == nil
	}
	gone := func(k Key) bool { return scope(k) && !present[k] && !list.partial(k) }
	var others []*Set
	for _, cgo := range []bool{false, true} {
		set := f.find(t.withCGO(cgo))
		if set == nil || set.Toolchain == tc {
			continue
		}
		for _, k := range (Budgets{Rows: set.Rows}).keys() {
			if !measured[k] && !gone(k) {
				return fmt.Errorf("%w: recorded with %s and valgrind %s; to record anew with %s and valgrind %s, measure all of them (%s %s was not)",
					ErrOtherToolchain, set.Go, set.Valgrind, tc.Go, tc.Valgrind, k.Pkg, k.Name)
			}
		}
		others = append(others, set)
	}
	for _, set := range others {
		set.Toolchain = tc
	}
	return nil
}

func (f *File) ratchet(t Target, tc Toolchain, s *Sample, old Budgets, o UpdateOptions) Step {
	step := Step{Key: s.Key, Sample: s, Verdict: New}
	was, ok := old.Rows[s.Key]
	if ok {
		step.Old, step.New = &was, &was
	}
	if fault := s.fault(); fault != nil {
		faulty := *s
		faulty.Fault = fault
		step.Action, step.Verdict, step.Sample = Unmeasured, fault.Verdict, &faulty
		return step
	}
	now := budgetOf(s)
	now.copyLimits(&was)
	now.Reason = was.Reason
	switch {
	case !ok:
		step.Action = Added
	case was.CGO != now.CGO || was.K != now.K:
		// Another way of measuring: the two numbers do not compare.
		step.Action, step.Verdict = Kept, Incomparable
		if o.AllowIncrease {
			step.Action = Raised
		}
	default:
		all, worst := Budgets{}.compareAll(&was, s)
		step.Verdict = all[worst].Verdict
		step.Action = direction(was, now, o)
	}
	switch step.Action {
	case Unchanged, Kept:
		now = was
	case Raised:
		now.Reason = o.Reason
	case Lowered:
		switch {
		case !o.AllowIncrease:
			now.Allocs, now.Bytes = min(was.Allocs, now.Allocs), min(was.Bytes, now.Bytes)
		case now.Allocs > was.Allocs || now.Bytes > was.Bytes:
			now.Reason = o.Reason
		}
	}
	for m, limit := range o.Limits {
		*now.own(m) = limit
	}
	if step.Action == Unchanged && now != was {
		step.Action = Limited
	}
	if ok {
		delete(f.find(t.withCGO(was.CGO)).Rows, s.Key)
	}
	f.ensure(t.withCGO(now.CGO), tc).Rows[s.Key] = now
	step.New = &now
	if now.CGO == s.CGO && now.K == s.K {
		all, worst := Budgets{}.compareAll(&now, s)
		step.Over = all[worst].Verdict == Regressed
	}
	return step
}

// budgetOf is the budget that a sample would be recorded as.
func budgetOf(s *Sample) Budget {
	return Budget{Ir: s.IrPerOp, K: s.K, Allocs: s.AllocsPerOp, Bytes: s.BytesPerOp, CGO: s.CGO}
}

// direction says what becomes of a budget. Instructions decide; allocations
// and bytes only where the instructions are equal.
func direction(was, now Budget, o UpdateOptions) Action {
	heapier := now.Allocs > was.Allocs || now.Bytes > was.Bytes
	lighter := now.Allocs < was.Allocs || now.Bytes < was.Bytes
	higher := now.Ir > was.Ir || now.Ir == was.Ir && heapier
	lower := now.Ir < was.Ir || now.Ir == was.Ir && lighter
	switch {
	case higher && o.AllowIncrease:
		return Raised
	case now.Ir > was.Ir:
		return Kept
	case lower:
		return Lowered
	case higher:
		return Kept
	}
	return Unchanged
}

func (f *File) ensure(t Target, tc Toolchain) *Set {
	if s := f.find(t); s != nil {
		return s
	}
	f.Sets = append(f.Sets, Set{Target: t, Toolchain: tc, Rows: make(map[Key]Budget)})
	return &f.Sets[len(f.Sets)-1]
}
