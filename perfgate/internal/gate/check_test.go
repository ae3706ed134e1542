package gate

import (
	"slices"
	"strings"
	"testing"
)

var (
	target = Target{GOOS: "linux", GOARCH: "amd64", Level: "v1", CGO: "0", Method: "cachegrind", Rules: 1, CPU: "avx2 sse3"}
	tools  = Toolchain{Go: "go1.26.8", Valgrind: "3.19.0"}
)

func key(name string) Key { return Key{"example.com/m", name} }

func decimal(t testing.TB, s string) PerOp {
	t.Helper()
	v, err := parseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return PerOp(v)
}

// sampleOf is a whole sample with k=2.
func sampleOf(t testing.TB, name, ir string) Sample {
	t.Helper()
	perOp := decimal(t, ir)
	return Sample{
		Key: key(name), K: 2, IrPerOp: perOp,
		Lo: Run{101, 2_000_000}, Hi: Run{201, 2_000_000 + int64(perOp)/100},
	}
}

func everything(Key) bool { return true }

func nothing(Key) bool { return false }

func fileOf(rows map[string]Budget) *File {
	set := Set{Target: target, Toolchain: tools, Rows: make(map[Key]Budget)}
	for name, b := range rows {
		set.Rows[key(name)] = b
	}
	return &File{Sets: []Set{set}}
}

func TestCheckNumbers(t *testing.T) {
	tests := []struct {
		name, was, now, limit string
		want                  Verdict
		delta                 string
	}{
		{"equal", "1000", "1000", "0", OK, "0"},
		{"a digit more", "1000", "1000.01", "0", OK, "0.001"},
		{"just under the warning", "1000", "1001.99", "0", OK, "0.199"},
		{"exactly the warning", "1000", "1002", "0", Warned, "0.2"},
		{"just under the limit", "1000", "1009.99", "0", Warned, "0.999"},
		{"rounds to the limit and is under it", "300000001", "303000001", "0", Warned, "1"},
		{"exactly the limit", "1000", "1010", "0", Regressed, "1"},
		{"over the limit", "1000", "1999", "0", Regressed, "99.9"},
		{"just above stale", "1000", "990.01", "0", OK, "-0.999"},
		{"exactly stale", "1000", "990", "0", Improved, "-1"},
		{"almost nothing left", "1000", "0.01", "0", Improved, "-99.999"},
		{"small counts", "7", "7.06", "0", Warned, "0.8571"},
		{"own tighter limit, just under", "1000", "1000.99", "0.1", OK, "0.099"},
		{"own tighter limit, exactly", "1000", "1001", "0.1", Regressed, "0.1"},
		{"own tighter limit, stale", "1000", "999", "0.1", Improved, "-0.1"},
		{"own wider limit, warned", "1000", "1049.99", "5", Warned, "4.999"},
		{"own wider limit, exactly", "1000", "1050", "5", Regressed, "5"},
		{"own wider limit, not stale", "1000", "950.01", "5", OK, "-4.999"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			limit, err := ParsePercent(test.limit)
			if err != nil {
				t.Fatal(err)
			}
			f := fileOf(map[string]Budget{"A": {Ir: decimal(t, test.was), K: 2, Limit: limit}})
			j := Check([]Sample{sampleOf(t, "A", test.now)}, f.Budgets(target, tools), everything)
			if len(j.Rows) != 1 || j.OutOfScope != 0 || len(j.Notes) != 0 {
				t.Fatalf("got %+v, want one row alone", j)
			}
			r := j.Rows[0]
			if delta, ok := r.Deciding().Delta(); r.Verdict != test.want || delta.String() != test.delta || !ok || !r.Compared() || r.Decided != Ir {
				t.Errorf("got %v %v, want %v %v", r.Verdict, delta, test.want, test.delta)
			}
			want := Limit{limit, LimitFile}
			if limit == 0 {
				want = Limit{DefaultLimit, LimitDefault}
			}
			if got := r.Deciding().Limit; got != want {
				t.Errorf("limit in force: got %v, want %v", got, want)
			}
		})
	}
}

func TestCheckOutcomes(t *testing.T) {
	broken := func(name string) Sample { return BrokenSample(key(name), "exit status 2") }
	faulty := func(v Verdict) Sample {
		s := sampleOf(t, "A", "1000")
		s.Fault = &Fault{v, "why"}
		return s
	}
	changed := func(f func(*Sample)) []Sample {
		s := sampleOf(t, "A", "1000")
		f(&s)
		return []Sample{s}
	}
	is := func(ir string) []Sample { return []Sample{sampleOf(t, "A", ir)} }
	tests := []struct {
		name    string
		samples []Sample
		rows    []string // benchmarks with a budget of 1000; nil for no file
		target  Target   // of this machine; zero for the budgets'
		tools   Toolchain
		scope   Scope
		want    string // rows as "name verdict"
		reason  string // part of the first row's
		note    string // part of the only note
		out     int
	}{
		{name: "no file", samples: is("1000"), want: "A new", reason: "no budget"},
		{name: "no row", samples: is("1000"), rows: []string{"B"}, scope: nothing, want: "A new", reason: "no budget", out: 1},
		{name: "zero sample", samples: []Sample{{Key: key("A")}}, rows: []string{"A"}, want: "A broken", reason: "no count"},
		{name: "zero sample, no budget", samples: []Sample{{Key: key("A")}}, want: "A broken", reason: "no count"},
		{name: "zero slope", samples: changed(func(s *Sample) { s.IrPerOp = 0 }), rows: []string{"A"}, want: "A broken"},
		{name: "negative slope", samples: changed(func(s *Sample) { s.IrPerOp = -5 }), rows: []string{"A"}, want: "A broken"},
		{name: "iterations are not those of K", samples: changed(func(s *Sample) { s.Hi.N++ }), rows: []string{"A"}, want: "A broken"},
		{name: "negative K", samples: changed(func(s *Sample) { s.K, s.Hi.N = -1, 102 }), rows: []string{"A"}, want: "A broken"},
		{name: "K too large", samples: changed(func(s *Sample) { s.K, s.Hi.N = 5, 100_101 }), rows: []string{"A"}, want: "A broken"},
		{name: "broken", samples: []Sample{broken("A")}, rows: []string{"A"}, want: "A broken", reason: "exit status 2"},
		{name: "unstable", samples: []Sample{faulty(Unstable)}, rows: []string{"A"}, want: "A unstable", reason: "why"},
		{name: "empty", samples: []Sample{faulty(Empty)}, rows: []string{"A"}, want: "A empty", reason: "why"},
		{name: "a fault goes before another target", samples: []Sample{faulty(Unstable)}, rows: []string{"A"}, target: Target{GOOS: "linux"}, want: "A unstable"},
		{
			name: "other K", samples: changed(func(s *Sample) { s.K, s.Lo.N, s.Hi.N = 3, 1001, 2001 }), rows: []string{"A"},
			want: "A incomparable", reason: "measured with k=3, the budget with k=2",
		}, {
			name: "other cgo", samples: changed(func(s *Sample) { s.CGO = true }), rows: []string{"A"},
			want: "A incomparable", reason: "the budget is for CGO_ENABLED=0, its package is now built with 1",
		}, {
			name: "other release, equal", samples: is("1000"), rows: []string{"A"}, tools: Toolchain{"go1.27.3", "3.19.0"},
			want: "A incomparable", reason: "budgets are for go1.26.8, this is go1.27.3",
		}, {
			name: "other release, dearer, and gone", samples: is("2000"), rows: []string{"A", "B"}, tools: Toolchain{"go1.27.3", "3.19.0"},
			want: "A incomparable", out: 1,
		},
		{name: "other patch, ok", samples: is("1000"), rows: []string{"A"}, tools: Toolchain{"go1.26.9", "3.19.0"}, want: "A ok", note: "budgets are for go1.26.8, this is go1.26.9"},
		{name: "other patch, warned", samples: is("1005"), rows: []string{"A"}, tools: Toolchain{"go1.26.9", "3.19.0"}, want: "A warned", note: "go1.26.9"},
		{name: "other patch, improved", samples: is("900"), rows: []string{"A"}, tools: Toolchain{"go1.26.9", "3.19.0"}, want: "A improved", note: "go1.26.9"},
		{name: "other patch, over", samples: is("1010"), rows: []string{"A"}, tools: Toolchain{"go1.26.9", "3.19.0"}, want: "A incomparable", reason: "over the limit, but the budget is for go1.26.8 and this is go1.26.9", note: "go1.26.9"},
		{name: "other patch, gone", rows: []string{"A"}, tools: Toolchain{"go1.26.9", "3.19.0"}, want: "A removed", note: "go1.26.9"},
		{name: "other valgrind", samples: is("1010"), rows: []string{"A"}, tools: Toolchain{"go1.26.8", "3.25.1"}, want: "A regressed", note: "recorded with valgrind 3.19.0, this is 3.25.1"},
		{
			name: "missing target", samples: is("1000"), rows: []string{"A"}, target: target.withLevel("v3"),
			want: "A incomparable", reason: "no target like this machine: CPU level is v1 in the budgets and v3 here",
		}, {
			name: "missing target, and gone", rows: []string{"A"}, target: target.withLevel("v3"), want: "",
		},
		{name: "removed", rows: []string{"A"}, want: "A removed", reason: "has a budget and no longer exists"},
		{name: "removed, not in scope", rows: []string{"A", "B"}, scope: nothing, want: "", out: 2},
		{name: "its package broke", samples: []Sample{BrokenSample(key("*"), "does not compile")}, rows: []string{"A"}, want: "* broken, A broken", reason: "does not compile"},
		{name: "its package broke, not in scope", samples: []Sample{BrokenSample(key("*"), "does not compile")}, rows: []string{"A"}, scope: nothing, want: "* broken", out: 1},
		{name: "its parent broke", samples: []Sample{broken("A")}, rows: []string{"A/x", "A/y/z"}, want: "A broken, A/x broken, A/y/z broken"},
		{name: "its sibling broke", samples: []Sample{broken("A/x")}, rows: []string{"A/x", "A/y"}, want: "A/x broken, A/y broken"},
		{name: "one of the same beginning broke", samples: []Sample{broken("A")}, rows: []string{"AB"}, want: "A broken, AB removed"},
		{name: "its sibling is empty", samples: []Sample{faulty(Empty)}, rows: []string{"A/y"}, want: "A empty, A/y removed"},
		{
			name:    "mixed",
			samples: []Sample{sampleOf(t, "F", "990"), sampleOf(t, "E", "1010"), sampleOf(t, "D", "1002"), sampleOf(t, "C", "1"), broken("B"), sampleOf(t, "A", "1000")},
			rows:    []string{"A", "B", "D", "E", "F", "G"},
			want:    "A ok, B broken, C new, D warned, E regressed, F improved, G removed",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var b Budgets
			if test.rows != nil {
				rows := make(map[string]Budget)
				for _, name := range test.rows {
					rows[name] = Budget{Ir: decimal(t, "1000"), K: 2}
				}
				if test.target == (Target{}) {
					test.target = target
				}
				if test.tools == (Toolchain{}) {
					test.tools = tools
				}
				b = fileOf(rows).Budgets(test.target, test.tools)
			}
			if test.scope == nil {
				test.scope = everything
			}
			j := Check(test.samples, b, test.scope)
			var got []string
			for _, r := range j.Rows {
				got = append(got, r.Name+" "+r.Verdict.String())
				if wantSample := slices.ContainsFunc(test.samples, func(s Sample) bool { return s.Key == r.Key }); (r.Sample != nil) != wantSample {
					t.Errorf("%s: got sample %v, want one: %v", r.Name, r.Sample, wantSample)
				}
			}
			if g := strings.Join(got, ", "); g != test.want {
				t.Errorf("got %q, want %q", g, test.want)
			}
			if len(j.Rows) > 0 && !strings.Contains(j.Rows[0].Reason, test.reason) {
				t.Errorf("reason: got %q, want %q in it", j.Rows[0].Reason, test.reason)
			}
			if n := strings.Join(j.Notes, "\n"); !strings.Contains(n, test.note) || (n == "") != (test.note == "") || len(j.Notes) > 1 {
				t.Errorf("notes: got %q, want %q in it", n, test.note)
			}
			if j.OutOfScope != test.out {
				t.Errorf("out of scope: got %d, want %d", j.OutOfScope, test.out)
			}
		})
	}
}

func (t Target) withLevel(level string) Target {
	t.Level = level
	return t
}

func TestCheckTwoSets(t *testing.T) {
	with := sampleOf(t, "C", "1000")
	with.CGO = true
	f := fileOf(map[string]Budget{"A": {Ir: decimal(t, "1000"), K: 2}})
	f.Sets = append(f.Sets, Set{Target: target.withCGO(true), Toolchain: tools, Rows: map[Key]Budget{with.Key: {Ir: decimal(t, "1000"), K: 2, CGO: true}}})
	j := Check([]Sample{sampleOf(t, "A", "1000"), with}, f.Budgets(target, tools), everything)
	if len(j.Rows) != 2 || j.Rows[0].Verdict != OK || j.Rows[1].Verdict != OK {
		t.Errorf("got %+v, want two rows that are ok", j.Rows)
	}
}

func TestNearestTarget(t *testing.T) {
	f := &File{Sets: []Set{
		{Target: Target{GOOS: "linux", GOARCH: "arm64", Level: "v8.0", CGO: "0", Method: "cachegrind", Rules: 1}},
		{Target: target.withCGO(true)},
	}}
	b := f.Budgets(target.withLevel("v3"), tools)
	want := "the budget file has no target like this machine: CPU level is v1 in the budgets and v3 here"
	if b.Missing != want {
		t.Errorf("got %q, want %q", b.Missing, want)
	}
}

func TestTargetDiff(t *testing.T) {
	if d := target.Diff(target); d != "" {
		t.Errorf("got %q, want none", d)
	}
	tests := []struct {
		change func(*Target)
		want   string
	}{
		{func(t *Target) { t.GOARCH = "arm64" }, "platform is linux/amd64 in the budgets and linux/arm64 here"},
		{func(t *Target) { t.Level = "v3" }, "CPU level is v1 in the budgets and v3 here"},
		{func(t *Target) { t.GOEXPERIMENT = "x" }, "GOEXPERIMENT is none in the budgets and x here"},
		{func(t *Target) { t.CGO = "1" }, "CGO_ENABLED is 0 in the budgets and 1 here"},
		{func(t *Target) { t.Method = "qemu" }, "method is cachegrind in the budgets and qemu here"},
		{func(t *Target) { t.Rules = 2 }, "rules version is 1 in the budgets and 2 here"},
		{func(t *Target) { t.CPU = "avx512 avx2" }, "CPU features differ (missing here: sse3; only here: avx512)"},
		{func(t *Target) { t.Rules, t.Level = 2, "" }, "CPU level is v1 in the budgets and none here, rules version is 1 in the budgets and 2 here"},
	}
	for _, test := range tests {
		u := target
		test.change(&u)
		if got := target.Diff(u); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestRelease(t *testing.T) {
	for version, want := range map[string]string{
		"go1.26.8":                "go1.26",
		"go1.26":                  "go1.26",
		"go1.26rc1":               "go1.26",
		"go1.26beta2":             "go1.26",
		"go1.26.8 X:nodwarf5":     "go1.26",
		"go1.26.8-custom":         "go1.26",
		"go1.2":                   "go1.2",
		"devel go1.27-abc Mon":    "devel go1.27-abc Mon",
		"go1.":                    "go1.",
		"go1.x":                   "go1.x",
		"go2.0":                   "go2.0",
		"":                        "",
		"go1.27-devel_abc X:simd": "go1.27",
	} {
		if got := Release(version); got != want {
			t.Errorf("Release(%q): got %q, want %q", version, got, want)
		}
	}
}
