package gate

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

var raise = UpdateOptions{AllowIncrease: true, Reason: "meant"}

func TestUpdate(t *testing.T) {
	budget := func(ir string) *Budget { return &Budget{Ir: decimal(t, ir), K: 2} }
	with := func(b *Budget, f func(*Budget)) *Budget {
		f(b)
		return b
	}
	allocs := func(n PerOp) func(*Budget) { return func(b *Budget) { b.Allocs = n } }
	bytes := func(n PerOp) func(*Budget) { return func(b *Budget) { b.Bytes = n } }
	both := func(a, n PerOp) func(*Budget) { return func(b *Budget) { b.Allocs, b.Bytes = a, n } }
	reason := func(why string) func(*Budget) { return func(b *Budget) { b.Reason = why } }
	own := func(b *Budget) { b.Limit, b.Reason = 1000, "once" }
	sample := func(ir string, f ...func(*Sample)) *Sample {
		s := sampleOf(t, "A", ir)
		for _, f := range f {
			f(&s)
		}
		return &s
	}
	heap := func(a, n PerOp) func(*Sample) { return func(s *Sample) { s.AllocsPerOp, s.BytesPerOp = a, n } }
	k3 := func(s *Sample) { s.K, s.Lo.N, s.Hi.N = 3, 1001, 2001 }
	fault := func(v Verdict) func(*Sample) { return func(s *Sample) { s.Fault = &Fault{v, "why"} } }

	tests := []struct {
		name    string
		was     *Budget
		sample  *Sample
		o       UpdateOptions
		action  Action
		want    *Budget // nil for none
		verdict Verdict
	}{
		{"added", nil, sample("5", heap(7, 8)), UpdateOptions{}, Added, with(budget("5"), both(7, 8)), New},
		{"added, increase allowed", nil, sample("5"), raise, Added, budget("5"), New},
		{"unchanged", budget("5"), sample("5"), UpdateOptions{}, Unchanged, budget("5"), OK},
		{"unchanged, increase allowed", with(budget("5"), own), sample("5"), raise, Unchanged, with(budget("5"), own), OK},
		{"lowered", budget("5"), sample("4"), UpdateOptions{}, Lowered, budget("4"), Improved},
		{"lowered by the least", budget("5000"), sample("4999.99"), UpdateOptions{}, Lowered, budget("4999.99"), OK},
		{"lowered keeps limit and reason", with(budget("5"), own), sample("4"), UpdateOptions{}, Lowered, with(budget("4"), own), Improved},
		{"lowered, increase allowed", with(budget("5"), own), sample("4"), raise, Lowered, with(budget("4"), own), Improved},
		{"kept", with(budget("5"), own), sample("6"), UpdateOptions{}, Kept, with(budget("5"), own), Regressed},
		{"kept within the limit", budget("5000"), sample("5000.01"), UpdateOptions{}, Kept, budget("5000"), OK},
		{"raised", with(budget("5"), own), sample("6"), raise, Raised, with(with(budget("6"), own), reason("meant")), Regressed},
		{"raised by the least", budget("5000"), sample("5000.01"), raise, Raised, with(budget("5000.01"), reason("meant")), OK},

		{"allocs up", budget("5"), sample("5", heap(1, 0)), UpdateOptions{}, Kept, budget("5"), Regressed},
		{"bytes up", budget("5"), sample("5", heap(0, 1)), UpdateOptions{}, Kept, budget("5"), Regressed},
		{"allocs up, allowed", budget("5"), sample("5", heap(1, 0)), raise, Raised, with(with(budget("5"), allocs(1)), reason("meant")), Regressed},
		{"allocs up, cheaper", budget("5"), sample("4", heap(1, 1)), UpdateOptions{}, Lowered, budget("4"), Regressed},
		{"allocs up, cheaper, allowed", budget("5"), sample("4", heap(1, 0)), raise, Lowered, with(with(budget("4"), allocs(1)), reason("meant")), Regressed},
		{"allocs up, bytes down", with(budget("5"), both(1, 9)), sample("5", heap(2, 8)), UpdateOptions{}, Lowered, with(budget("5"), both(1, 8)), Regressed},
		{"allocs down", with(budget("5"), both(3, 9)), sample("5", heap(2, 9)), UpdateOptions{}, Lowered, with(budget("5"), both(2, 9)), Improved},
		{"bytes down", with(budget("5"), bytes(9)), sample("5", heap(0, 8)), UpdateOptions{}, Lowered, with(budget("5"), bytes(8)), OK},
		{"allocs down, dearer", with(budget("5"), allocs(3)), sample("6", heap(2, 0)), UpdateOptions{}, Kept, with(budget("5"), allocs(3)), Regressed},

		{"other K", budget("5"), sample("5", k3), UpdateOptions{}, Kept, budget("5"), Incomparable},
		{"other K, cheaper", budget("5"), sample("4", k3), UpdateOptions{}, Kept, budget("5"), Incomparable},
		{"other K, allowed", budget("5"), sample("5", k3), raise, Raised, with(with(budget("5"), reason("meant")), func(b *Budget) { b.K = 3 }), Incomparable},

		{"broken", budget("5"), sample("4", fault(Broken)), raise, Unmeasured, budget("5"), Broken},
		{"unstable", budget("5"), sample("4", fault(Unstable)), raise, Unmeasured, budget("5"), Unstable},
		{"empty, no budget", nil, sample("4", fault(Empty)), raise, Unmeasured, nil, Empty},
		{"no count", budget("5"), &Sample{Key: key("A")}, raise, Unmeasured, budget("5"), Broken},
		{"no count, no budget", nil, sample("0"), UpdateOptions{}, Unmeasured, nil, Broken},
		{"negative count", nil, sample("-1"), UpdateOptions{}, Unmeasured, nil, Broken},
		{"iterations are not those of K", nil, sample("4", func(s *Sample) { s.K = 3 }), UpdateOptions{}, Unmeasured, nil, Broken},
		{"dropped", budget("5"), nil, UpdateOptions{}, Dropped, nil, Removed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := fileOf(map[string]Budget{"other": *budget("9")})
			if test.was != nil {
				f.Sets[0].Rows[key("A")] = *test.was
			}
			var samples []Sample
			if test.sample != nil {
				samples = append(samples, *test.sample)
			}
			scope := func(k Key) bool { return k == key("A") }
			steps, err := f.Update(target, tools, samples, scope, test.o)
			if err != nil {
				t.Fatal(err)
			}
			if len(steps) != 1 || steps[0].Action != test.action || steps[0].Verdict != test.verdict {
				t.Fatalf("got %+v, want one step, %v and %v", steps, test.action, test.verdict)
			}
			s := steps[0]
			if s.Action == Unmeasured && (s.Sample == nil || s.Sample.Fault == nil) {
				t.Error("an unmeasured step has no fault")
			}
			if !sameBudget(s.Old, test.was) || !sameBudget(s.New, test.want) {
				t.Errorf("got step %+v → %+v, want %+v → %+v", s.Old, s.New, test.was, test.want)
			}
			b := f.Budgets(target, tools)
			var got *Budget
			if r, ok := b.Rows[key("A")]; ok {
				got = &r
			}
			if !sameBudget(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if r := b.Rows[key("other")]; !sameBudget(&r, budget("9")) {
				t.Errorf("out of scope: got %+v, want it as it was", r)
			}
			if _, err := ParseFile(f.Format()); err != nil {
				t.Errorf("the file cannot be read: %v", err)
			}
		})
	}
}

func sameBudget(a, b *Budget) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func TestUpdateReason(t *testing.T) {
	for _, o := range []UpdateOptions{{AllowIncrease: true}, {Reason: "why"}} {
		if _, err := fileOf(nil).Update(target, tools, nil, everything, o); err == nil {
			t.Errorf("%+v: want an error", o)
		}
	}
}

// TestUpdateFirst: without a file, then with one of another target only.
func TestUpdateFirst(t *testing.T) {
	f := new(File)
	s := sampleOf(t, "A", "5")
	for _, tg := range []Target{target, target.withLevel("v3")} {
		steps, err := f.Update(tg, tools, []Sample{s}, everything, UpdateOptions{})
		if err != nil || len(steps) != 1 || steps[0].Action != Added {
			t.Fatalf("got %+v, %v, want one that is added", steps, err)
		}
	}
	g, err := ParseFile(f.Format())
	if err != nil || len(g.Sets) != 2 {
		t.Fatalf("got %+v, %v, want two targets", g, err)
	}
}

// TestUpdateDropsLast: a target without budgets goes.
func TestUpdateDropsLast(t *testing.T) {
	f := fileOf(map[string]Budget{"A": {Ir: 50_000, K: 2}})
	if _, err := f.Update(target, tools, nil, everything, UpdateOptions{}); err != nil || len(f.Sets) != 0 {
		t.Errorf("got %+v, %v, want no target", f.Sets, err)
	}
}

// TestUpdatePartial: nothing is dropped that may only not have been reached.
func TestUpdatePartial(t *testing.T) {
	tests := []struct {
		name    string
		samples []Sample
		keeps   bool
	}{
		{"package", []Sample{BrokenSample(key("*"), "does not compile")}, true},
		{"parent", []Sample{BrokenSample(key("A"), "fails")}, true},
		{"sibling", []Sample{BrokenSample(key("A/b"), "fails")}, true},
		{"other function", []Sample{BrokenSample(key("AA"), "fails")}, false},
		{"other package", []Sample{BrokenSample(Package("example.com/n"), "fails")}, false},
		{"sibling that is empty", []Sample{{Key: key("A/b"), Fault: &Fault{Empty, "why"}}}, false},
	}
	for _, test := range tests {
		f := fileOf(map[string]Budget{"A/c": {Ir: 50_000, K: 2}})
		if _, err := f.Update(target, tools, test.samples, everything, raise); err != nil {
			t.Fatal(err)
		}
		if _, keeps := f.Budgets(target, tools).Rows[key("A/c")]; keeps != test.keeps {
			t.Errorf("%s: kept %v, want %v", test.name, keeps, test.keeps)
		}
	}
}

func TestUpdateToolchain(t *testing.T) {
	newer := Toolchain{"go1.27.3", "3.19.0"}
	a, b := sampleOf(t, "A", "6"), sampleOf(t, "B/x", "7")
	unstable := b
	unstable.Fault = &Fault{Unstable, "why"}
	onlyA := func(k Key) bool { return k.Name == "A" }
	tests := []struct {
		name    string
		tools   Toolchain
		samples []Sample
		scope   Scope
		o       UpdateOptions
		want    string // "" for success
	}{
		{"no increase allowed", newer, []Sample{a, b}, everything, UpdateOptions{}, "recorded with go1.26.8 and valgrind 3.19.0, this is go1.27.3 and valgrind 3.19.0"},
		{"other patch", Toolchain{"go1.26.9", "3.19.0"}, []Sample{a, b}, everything, UpdateOptions{}, "this is go1.26.9"},
		{"other valgrind", Toolchain{"go1.26.8", "3.25.1"}, []Sample{a, b}, everything, UpdateOptions{}, "this is go1.26.8 and valgrind 3.25.1"},
		{"all measured", newer, []Sample{a, b}, everything, raise, ""},
		{"all measured, one more", newer, []Sample{a, b, sampleOf(t, "C", "1")}, everything, raise, ""},
		{"one gone", newer, []Sample{a}, everything, raise, ""},
		{"all gone", newer, nil, everything, raise, ""},
		{"one out of scope", newer, []Sample{a}, onlyA, raise, "measure all of them (example.com/m B/x was not)"},
		{"one unstable", newer, []Sample{a, unstable}, everything, raise, "(example.com/m B/x was not)"},
		{"one broken", newer, []Sample{a, BrokenSample(key("B/x"), "fails")}, everything, raise, "(example.com/m B/x was not)"},
		{"one without a count", newer, []Sample{a, {Key: key("B/x")}}, everything, raise, "(example.com/m B/x was not)"},
		{"parent of one broken", newer, []Sample{a, BrokenSample(key("B"), "fails")}, everything, raise, "(example.com/m B/x was not)"},
		{"package broken in part", newer, []Sample{BrokenSample(key("*"), "ends"), a}, everything, raise, "(example.com/m B/x was not)"},
		{"package broken, all measured", newer, []Sample{BrokenSample(key("*"), "ends"), a, b}, everything, raise, ""},
		{"package broken", newer, []Sample{BrokenSample(key("*"), "ends")}, everything, raise, "(example.com/m A was not)"},
		{"other package broken", newer, []Sample{BrokenSample(Package("example.com/n"), "ends"), a}, everything, raise, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := fileOf(map[string]Budget{"A": {Ir: 50_000, K: 2}, "B/x": {Ir: 50_000, K: 2}})
			before := f.Format()
			_, err := f.Update(target, test.tools, test.samples, test.scope, test.o)
			if test.want != "" {
				if !errors.Is(err, ErrOtherToolchain) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q in it", err, test.want)
				}
				if after := f.Format(); !bytes.Equal(after, before) {
					t.Errorf("got %s, want %s", after, before)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range f.Sets {
				if s.Toolchain != test.tools {
					t.Errorf("got %v, want %v", s.Toolchain, test.tools)
				}
				for k, r := range s.Rows {
					if !slices.ContainsFunc(test.samples, func(s Sample) bool { return s.Key == k && s.IrPerOp == r.Ir && s.Fault == nil }) {
						t.Errorf("%v: got %v under the new toolchain, which did not measure it", k, r.Ir)
					}
				}
			}
		})
	}
}

func twoSets(t *testing.T) *File {
	f := fileOf(map[string]Budget{"A": {Ir: decimal(t, "5"), K: 2}})
	f.Sets = append(f.Sets, Set{Target: target.withCGO(true), Toolchain: tools, Rows: map[Key]Budget{
		key("C"): {Ir: decimal(t, "5"), K: 2, Limit: 1000, Reason: "once", CGO: true},
	}})
	return f
}

func TestUpdateTwoSets(t *testing.T) {
	a, c := sampleOf(t, "A", "4"), sampleOf(t, "C", "4")
	c.CGO = true
	f := twoSets(t)
	steps, err := f.Update(target, tools, []Sample{a, c}, everything, UpdateOptions{})
	if err != nil || len(steps) != 2 || steps[0].Action != Lowered || steps[1].Action != Lowered {
		t.Fatalf("got %+v, %v, want two that are lowered", steps, err)
	}
	if len(f.Sets) != 2 || f.Sets[0].Rows[a.Key].Ir != a.IrPerOp || f.Sets[1].Rows[c.Key].Ir != c.IrPerOp {
		t.Errorf("got %+v, want both sets lowered", f.Sets)
	}
}

// TestUpdateTwoSetsToolchain: where one of two sets cannot be recorded anew,
// neither is.
func TestUpdateTwoSetsToolchain(t *testing.T) {
	f := twoSets(t)
	before := f.Format()
	scope := func(k Key) bool { return k.Name == "A" }
	_, err := f.Update(target, Toolchain{"go1.27.3", "3.19.0"}, []Sample{sampleOf(t, "A", "4")}, scope, raise)
	if !errors.Is(err, ErrOtherToolchain) {
		t.Errorf("got %v, want %v", err, ErrOtherToolchain)
	}
	if after := f.Format(); !bytes.Equal(after, before) {
		t.Errorf("got %s, want %s", after, before)
	}
}

// TestUpdateMoves: a package that begins or ceases to use cgo.
func TestUpdateMoves(t *testing.T) {
	for _, name := range []string{"A", "C"} {
		s := sampleOf(t, name, "4")
		s.CGO = name == "A"
		scope := func(k Key) bool { return k == s.Key }

		f := twoSets(t)
		before := f.Format()
		steps, err := f.Update(target, tools, []Sample{s}, scope, UpdateOptions{})
		if err != nil || len(steps) != 1 || steps[0].Action != Kept || steps[0].Verdict != Incomparable {
			t.Fatalf("%s: got %+v, %v, want one that is kept", name, steps, err)
		}
		if after := f.Format(); !bytes.Equal(after, before) {
			t.Errorf("%s: got %s, want %s", name, after, before)
		}

		old := f.Budgets(target, tools).Rows[s.Key]
		steps, err = f.Update(target, tools, []Sample{s}, scope, raise)
		if err != nil || len(steps) != 1 || steps[0].Action != Raised {
			t.Fatalf("%s: got %+v, %v, want one that is raised", name, steps, err)
		}
		if len(f.Sets) != 1 || f.Sets[0].CGO != cgoDigit(s.CGO) || len(f.Sets[0].Rows) != 2 {
			t.Fatalf("%s: got %+v, want one set with two rows", name, f.Sets)
		}
		got, want := f.Sets[0].Rows[s.Key], Budget{Ir: s.IrPerOp, K: 2, Limit: old.Limit, Reason: "meant", CGO: s.CGO}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		if _, err := ParseFile(f.Format()); err != nil {
			t.Error(err)
		}
	}
}

func TestActionString(t *testing.T) {
	seen := make(map[string]bool)
	for a := Unchanged; a <= Unmeasured; a++ {
		if s := a.String(); s == "" || seen[s] {
			t.Errorf("%d: got %q", a, s)
		}
		seen[a.String()] = true
	}
}
