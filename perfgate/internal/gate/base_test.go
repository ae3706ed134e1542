package gate

import (
	"strings"
	"testing"
)

func TestParseAcceptance(t *testing.T) {
	want := Acceptance{"Store/size=1024", 5_0000, "checks every block now"}
	for _, good := range []string{"Store/size=1024 +5% checks every block now", "  Store/size=1024   +5 %  checks every block now "} {
		if got, err := ParseAcceptance(good); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", good, got, err, want)
		}
	}
	if got, err := ParseAcceptance("A +0.5% why"); err != nil || got.Limit != 5000 {
		t.Errorf("got %+v, %v, want 0.5 %%", got, err)
	}
	for bad, want := range map[string]string{
		"":                   "want \"PATTERN",
		"Store":              "want \"PATTERN",
		"Store 5% why":       "want \"PATTERN",
		"Store +5 why":       "want \"PATTERN",
		"Store +5%":          "a reason is missing",
		"Store +0% why":      "not a positive decimal",
		"Store +-5% why":     "not a positive decimal",
		"Store +x% why":      "not a positive decimal",
		"Store +0.00001% no": "not a positive decimal",
	} {
		if got, err := ParseAcceptance(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v, want %q", bad, got, err, want)
		}
	}
}

// TestCheckBase judges against another commit, which lacks some of the
// benchmarks and cannot measure others.
func TestCheckBase(t *testing.T) {
	sample := func(name string, ir PerOp) Sample {
		return Sample{Key: Key{"p", name}, IrPerOp: ir * scale, Lo: Run{2, 1}, Hi: Run{3, 2}}
	}
	b := Measured([]Sample{sample("Same", 100), sample("Slow", 100)}, "base 3f2c1a9", Budgets{})
	b.Lack(Key{"p", "Changed"}, "its source differs")
	b.Refuse(Key{"p", "Refused"}, "does not compile there")
	b.Had(Key{"p", "Gone"})
	b.Had(Key{"p", "Same"})
	b.Same = []string{"q"}
	samples := []Sample{sample("Same", 100), sample("Slow", 200), sample("New", 1), sample("Changed", 1), sample("Refused", 1)}
	j := Check(samples, b, func(Key) bool { return true })
	want := map[Key]struct {
		verdict Verdict
		reason  string
	}{
		{"p", "Same"}:    {OK, ""},
		{"p", "Slow"}:    {Regressed, ""},
		{"p", "New"}:     {New, "not in base 3f2c1a9"},
		{"p", "Changed"}: {New, "not in base 3f2c1a9: its source differs"},
		{"p", "Refused"}: {Incomparable, "does not compile there"},
		{"p", "Gone"}:    {Removed, "is in base 3f2c1a9 and no longer exists"},
	}
	if len(j.Same) != 1 || Exit(nil, Options{Same: true}) != ExitOK {
		t.Errorf("got %q, want a package that passes", j.Same)
	}
	if len(j.Rows) != len(want) {
		t.Errorf("got %d rows, want %d", len(j.Rows), len(want))
	}
	for _, r := range j.Rows {
		w := want[r.Key]
		if r.Verdict != w.verdict || r.Reason != w.reason {
			t.Errorf("%v: got %v %q, want %v %q", r.Key, r.Verdict, r.Reason, w.verdict, w.reason)
		}
		if hasBudget := r.Name == "Same" || r.Name == "Slow"; (r.Budget != nil) != hasBudget {
			t.Errorf("%v: got budget %+v", r.Key, r.Budget)
		}
	}
}

func TestLimitFor(t *testing.T) {
	for _, test := range []struct {
		was, now PerOp
		want     Percent
	}{
		{100, 120, 21_0000}, {100_0000, 101_0000, 3_0000}, {1000, 1019, 3_0000}, {0, 5, 101_0000},
	} {
		r := Row{Metrics: [3]Comparison{{Was: 100, Now: 102, Verdict: Regressed}, {Was: test.was, Now: test.now, Verdict: Regressed}, {Was: 1, Now: 9, Verdict: OK}}}
		got := LimitFor(&r)
		if got != test.want {
			t.Errorf("%v to %v: got %v, want %v", test.was, test.now, got, test.want)
		}
		if v := compare(Ir, test.was, test.now, 0, got); v == Regressed {
			t.Errorf("%v to %v: %v is not enough", test.was, test.now, got)
		}
	}
}
