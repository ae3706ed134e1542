package gate

import (
	"strings"
	"testing"
)

// allocating returns the sample of 1000 Ir/op with allocations and bytes.
func allocating(t *testing.T, ir, allocs, bytes string) Sample {
	s := sampleOf(t, "A", ir)
	s.AllocsPerOp, s.BytesPerOp = decimal(t, allocs), decimal(t, bytes)
	return s
}

// one checks a sample against one budget and returns its row.
func one(t *testing.T, s Sample, budget Budget, change func(*Budgets)) Row {
	t.Helper()
	b := fileOf(map[string]Budget{s.Name: budget}).Budgets(target, tools)
	if change != nil {
		change(&b)
	}
	j := Check([]Sample{s}, b, everything)
	if len(j.Rows) != 1 {
		t.Fatalf("got %+v, want one row", j.Rows)
	}
	return j.Rows[0]
}

func TestCheckMetrics(t *testing.T) {
	type perOp struct{ ir, allocs, bytes string }
	tests := []struct {
		name     string
		was, now perOp
		own      perOp // limits
		want     Verdict
		decided  Metric
	}{
		{"equal", perOp{"1000", "3", "96"}, perOp{"1000", "3", "96"}, perOp{}, OK, Ir},
		{"one more allocation", perOp{"1000", "3", "96"}, perOp{"1000", "4", "96"}, perOp{}, Regressed, Allocs},
		{"one more of a hundred", perOp{"1000", "100", "96"}, perOp{"1000", "101", "96"}, perOp{}, Regressed, Allocs},
		{"one more of two hundred", perOp{"1000", "200", "9600"}, perOp{"1000", "201", "9600"}, perOp{}, Warned, Allocs},
		{"the least above 0", perOp{"1000", "0", "0"}, perOp{"1000", "0.0001", "0"}, perOp{}, Regressed, Allocs},
		{"bytes from 0", perOp{"1000", "0", "0"}, perOp{"1000", "0", "0.01"}, perOp{}, Regressed, Bytes},
		{"bytes exactly 1 %", perOp{"1000", "1", "9600"}, perOp{"1000", "1", "9696"}, perOp{}, Regressed, Bytes},
		{"bytes just under", perOp{"1000", "1", "9600"}, perOp{"1000", "1", "9695.99"}, perOp{}, Warned, Bytes},
		{"bytes by one tiny block of 100 iterations", perOp{"1000", "1", "5.28"}, perOp{"1000", "1", "5.44"}, perOp{}, OK, Ir},
		{"bytes by more", perOp{"1000", "1", "5.28"}, perOp{"1000", "1", "5.45"}, perOp{}, Regressed, Bytes},
		{"bytes fewer by one tiny block", perOp{"1000", "1", "5.44"}, perOp{"1000", "1", "5.28"}, perOp{}, OK, Ir},
		{"worst of three", perOp{"1000", "4", "9600"}, perOp{"1002", "2", "19200"}, perOp{}, Regressed, Bytes},
		{"the first of equals", perOp{"1000", "1", "96"}, perOp{"1010", "2", "192"}, perOp{}, Regressed, Ir},
		{"a warning outweighs what improved", perOp{"1000", "200", "96"}, perOp{"500", "201", "96"}, perOp{}, Warned, Allocs},
		{"stale allocations", perOp{"1000", "4", "96"}, perOp{"1000", "3", "96"}, perOp{}, Improved, Allocs},
		{"no allocations any more", perOp{"1000", "4", "0"}, perOp{"1000", "0", "0"}, perOp{}, Improved, Allocs},
		{"own limits", perOp{"1000", "3", "9600"}, perOp{"1019", "3.5", "10000"}, perOp{"2", "20", "5"}, Warned, Ir},
		{"own limit of bytes, exactly", perOp{"1000", "3", "9600"}, perOp{"1000", "3", "10080"}, perOp{"0", "0", "5"}, Regressed, Bytes},
		{"own limit, from 0", perOp{"1000", "0", "0"}, perOp{"1000", "1", "0"}, perOp{"0", "100", "0"}, Regressed, Allocs},
		{"own limit of more than 100 %, from 0", perOp{"1000", "0", "0"}, perOp{"1000", "1", "0"}, perOp{"0", "100.0001", "0"}, Warned, Allocs},
	}
	percent := func(s string) Percent {
		if s == "" {
			return 0
		}
		return Percent(decimal(t, s))
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			budget := Budget{
				Ir: decimal(t, test.was.ir), Allocs: decimal(t, test.was.allocs), Bytes: decimal(t, test.was.bytes), K: 2,
				Limit: percent(test.own.ir), AllocsLimit: percent(test.own.allocs), BytesLimit: percent(test.own.bytes),
			}
			r := one(t, allocating(t, test.now.ir, test.now.allocs, test.now.bytes), budget, nil)
			if r.Verdict != test.want || r.Decided != test.decided {
				t.Errorf("got %v by %v, want %v by %v", r.Verdict, r.Decided, test.want, test.decided)
			}
		})
	}
}

func TestDeltaFromZero(t *testing.T) {
	for _, test := range []struct {
		was, now PerOp
		want     Percent
		ok       bool
	}{{0, 0, 0, true}, {0, 1, 0, false}, {10, 0, -100_0000, true}} {
		if p, ok := (Comparison{Was: test.was, Now: test.now}).Delta(); p != test.want || ok != test.ok {
			t.Errorf("%v to %v: got %v, %v, want %v, %v", test.was, test.now, p, ok, test.want, test.ok)
		}
	}
}

// TestCheckLimits: which limit is in force, who set it, and what is said of it.
func TestCheckLimits(t *testing.T) {
	exact := func(b *Budgets) { b.Exact = true }
	accept := func(limit string) func(*Budgets) {
		return func(b *Budgets) { b.Accept(everything, Percent(decimal(t, limit)), "commit 3f2c1a9") }
	}
	none := Budget{Ir: decimal(t, "1000"), K: 2}
	heap := Budget{Ir: decimal(t, "1000"), Allocs: decimal(t, "1"), Bytes: decimal(t, "64"), K: 2}
	own := func(b Budget, limit string) Budget {
		b.Limit = Percent(decimal(t, limit))
		return b
	}
	tests := []struct {
		name   string
		budget Budget
		change func(*Budgets)
		ir     string
		allocs string
		want   string // verdict and limit of Ir
		notes  string
	}{
		{"default", none, nil, "1005", "0", "warned +1 % (default)", ""},
		{"own", own(none, "0.3"), nil, "1005", "0", "regressed +0.3 % (baselines.json)", ""},
		{"own and tight, allocating", own(heap, "0.3"), nil, "1005", "1", "regressed +0.3 % (baselines.json)", TightNote},
		{"own and tight, ok", own(heap, "0.3"), nil, "1000", "1", "ok +0.3 % (baselines.json)", ""},
		{"own, not tight", own(heap, "0.6"), nil, "1006", "1", "regressed +0.6 % (baselines.json)", ""},
		{"exact", none, exact, "1001", "0", "regressed +0.1 % (-exact)", ""},
		{"exact, just under", none, exact, "1000.99", "0", "ok +0.1 % (-exact)", ""},
		{"exact, the budget allocates", heap, exact, "1001", "0", "improved +1 % (default)", "could go back to 1 allocs/op before this budget notices: lower it with `perfgate update`"},
		{"exact, the sample allocates", none, exact, "1001", "1", "regressed +1 % (default)", ""},
		{"exact, own limit", own(none, "2"), exact, "1005", "0", "warned +2 % (baselines.json)", ""},
		{"accepted", none, accept("5"), "1045.2", "0", "warned +5 % (commit 3f2c1a9)", "accepted: Ir/op over the limit of +1 % (default), let pass up to +5 % (commit 3f2c1a9)"},
		{"accepted, not needed", none, accept("5"), "1005", "0", "warned +5 % (commit 3f2c1a9)", ""},
		{"accepted, over that too", none, accept("5"), "1050", "0", "regressed +5 % (commit 3f2c1a9)", ""},
		{"accepted less than it may", own(none, "7"), accept("5"), "1060", "0", "warned +7 % (baselines.json)", ""},
		{"accepted, and cheaper", none, accept("50"), "900", "0", "improved +50 % (commit 3f2c1a9)", "could get 66.67 % dearer before this budget notices: lower it with `perfgate update`"},
		{"accepted, from 0", none, accept("5"), "1000", "1", "regressed +5 % (commit 3f2c1a9)", ""},
		{"accepted, from 0, enough", none, accept("101"), "1000", "1", "warned +101 % (commit 3f2c1a9)", "accepted: allocs/op over the limit of +1 % (default), let pass up to +101 % (commit 3f2c1a9)"},
		{"headroom", none, nil, "800", "0", "improved +1 % (default)", "could get 26.25 % dearer before this budget notices: lower it with `perfgate update`"},
		{"headroom over a base", none, func(b *Budgets) { b.Base = "base 3f2c1a9" }, "800", "0", "improved +1 % (default)", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bytes := "0"
			if test.allocs != "0" {
				bytes = test.budget.Bytes.String()
			}
			r := one(t, allocating(t, test.ir, test.allocs, bytes), test.budget, test.change)
			if got := r.Verdict.String() + " " + r.Metrics[Ir].Limit.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := strings.Join(r.Notes, "\n"); got != test.notes {
				t.Errorf("notes: got %q, want %q", got, test.notes)
			}
		})
	}
}

func TestAcceptCounts(t *testing.T) {
	b := fileOf(map[string]Budget{"A": {Ir: 1, K: 2}, "B": {Ir: 1, K: 2}}).Budgets(target, tools)
	isA := func(k Key) bool { return k.Name == "A" }
	if n := b.Accept(isA, 5_0000, "one"); n != 1 {
		t.Errorf("got %d, want 1", n)
	}
	if n := b.Accept(nothing, 5_0000, "none"); n != 0 {
		t.Errorf("got %d, want 0", n)
	}
	if n := b.Accept(everything, 3_0000, "two"); n != 2 {
		t.Errorf("got %d, want 2", n)
	}
	if a, b := b.Rows[key("A")].accepted, b.Rows[key("B")].accepted; a != (Limit{5_0000, "one"}) || b != (Limit{3_0000, "two"}) {
		t.Errorf("got %v and %v, want the wider of each", a, b)
	}
}

// TestMeasured: the same questions, asked of a base.
// TestSpread: counts that are not exact are judged by instructions alone, and
// only beyond what runs of either side are apart.
func TestSpread(t *testing.T) {
	for _, test := range []struct {
		was, now, bytes string // per operation, of bytes those of now
		want            Verdict
	}{
		{"1000", "1100", "64", OK},
		{"1000", "900", "64", OK},
		{"1000", "1100", "128", OK},
		{"1000", "1000", "32", OK},
		{"1000", "1101", "64", Regressed},
		{"1000", "899", "64", Improved},
	} {
		was, now := sampleOf(t, "A", test.was), sampleOf(t, "A", test.now)
		was.Spread, now.Spread = decimal(t, "40"), decimal(t, "60")
		was.BytesPerOp, now.BytesPerOp = decimal(t, "64"), decimal(t, test.bytes)
		j := Check([]Sample{now}, Measured([]Sample{was}, "base", Budgets{}), everything)
		if len(j.Rows) != 1 || j.Rows[0].Verdict != test.want {
			t.Errorf("%+v: got %+v, want %v", test, j.Rows, test.want)
		}
	}
}

func TestMeasured(t *testing.T) {
	file := Budgets{Rows: map[Key]Budget{key("A"): {Ir: 1, Limit: 5000}}}
	cgo := sampleOf(t, "Cgo", "1000")
	cgo.CGO = true
	unstable := sampleOf(t, "Shaky", "1000")
	unstable.Fault = &Fault{Unstable, "1000 and 1001\nmore"}
	k3 := sampleOf(t, "K", "1000")
	k3.K, k3.Hi.N = 3, k3.Lo.N+1000
	b := Measured([]Sample{
		sampleOf(t, "A", "1000"), cgo, k3, unstable, sampleOf(t, "Gone", "1000"),
		BrokenSample(Package("example.com/m"), "does not compile"),
	}, "base 3f2c1a9", file)
	j := Check([]Sample{
		sampleOf(t, "A", "1005"), sampleOf(t, "Cgo", "1000"), sampleOf(t, "K", "1000"), sampleOf(t, "Shaky", "1000"), sampleOf(t, "Young", "1000"),
	}, b, everything)
	var got []string
	for _, r := range j.Rows {
		got = append(got, r.Name+" "+r.Verdict.String()+": "+r.Reason)
	}
	want := `A regressed: 
Cgo incomparable: base 3f2c1a9 is for CGO_ENABLED=1, its package is now built with 0
Gone removed: is in base 3f2c1a9 and no longer exists
K incomparable: measured with k=2, base 3f2c1a9 with k=3
Shaky incomparable: unstable in base 3f2c1a9: 1000 and 1001
Young new: not in base 3f2c1a9`
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

func TestMetricText(t *testing.T) {
	for _, m := range Metrics() {
		text, err := m.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Metric
		if err := back.UnmarshalText(text); err != nil || back != m {
			t.Errorf("%s: got %v, %v", text, back, err)
		}
	}
	var m Metric
	if err := m.UnmarshalText([]byte("ns_per_op")); err == nil {
		t.Error("ns_per_op: want an error")
	}
}

// TestLimitsInFile: limits of their own are read, written, validated, and kept
// by an update; update sets them.
func TestLimitsInFile(t *testing.T) {
	f := fileOf(map[string]Budget{"A": {Ir: decimal(t, "5"), K: 2, Limit: 1000, AllocsLimit: 5_0000, BytesLimit: 2_5000}, "B": {Ir: decimal(t, "5"), K: 2}})
	for name, want := range map[string]string{
		"A": `"A": {"ir": 5, "k": 2, "allocs": 0, "bytes": 0, "limit": 0.1, "allocs_limit": 5, "bytes_limit": 2.5}`,
		"B": `"B": {"ir": 5, "k": 2, "allocs": 0, "bytes": 0}`,
	} {
		if text := string(f.Format()); !strings.Contains(text, want) {
			t.Errorf("%s: got %s, want %s in it", name, text, want)
		}
	}
	f, err := ParseFile(f.Format())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"limit", "allocs_limit", "bytes_limit"} {
		text := strings.Replace(string(f.Format()), `"bytes": 0}`, `"bytes": 0, "`+name+`": -1}`, 1)
		if _, err := ParseFile([]byte(text)); err == nil || !strings.Contains(err.Error(), "limit -1 for") {
			t.Errorf("%s: got %v, want an error", name, err)
		}
	}

	samples := []Sample{sampleOf(t, "A", "4"), sampleOf(t, "B", "5")}
	steps, err := f.Update(target, tools, samples, everything, UpdateOptions{Limits: map[Metric]Percent{Ir: 0, Allocs: 7_0000}})
	if err != nil || len(steps) != 2 || steps[0].Action != Lowered || steps[1].Action != Limited {
		t.Fatalf("got %+v, %v, want A lowered and B limited", steps, err)
	}
	for name, want := range map[string]Budget{
		"A": {Ir: decimal(t, "4"), K: 2, AllocsLimit: 7_0000, BytesLimit: 2_5000},
		"B": {Ir: decimal(t, "5"), K: 2, AllocsLimit: 7_0000},
	} {
		if got := f.Sets[0].Rows[key(name)]; got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	// The same again changes nothing; a row that stays is limited too, and says
	// whether it is over what it has now.
	steps, err = f.Update(target, tools, []Sample{sampleOf(t, "A", "4.01"), sampleOf(t, "B", "5")}, everything, UpdateOptions{Limits: map[Metric]Percent{Ir: 2000}})
	if err != nil || steps[0].Action != Kept || !steps[0].Over || steps[0].Verdict != Warned || steps[1].Action != Limited || steps[1].Over {
		t.Fatalf("got %+v, %v, want A kept and over its new limit, B limited", steps, err)
	}
	if got := f.Sets[0].Rows[key("A")]; got.Limit != 2000 || got.Ir != decimal(t, "4") {
		t.Errorf("got %+v, want the budget of 4 with a limit of 0.2", got)
	}
}
