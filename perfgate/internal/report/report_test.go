package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"

	// The reader that benchstat has: what it cannot read is no use to anyone.
	"golang.org/x/perf/benchfmt"
)

var (
	target = gate.Target{GOOS: "linux", GOARCH: "amd64", Level: "v1", CGO: "0", Method: "cachegrind", Rules: 1, CPU: "avx2 sse3"}
	tools  = gate.Toolchain{Go: "go1.26.8", Valgrind: "3.19.0"}
	run    = Run{Host: "host", Seconds: 12.34, Jobs: 2, ValgrindStarts: 20, Totals: []Total{}}
)

func key(name string) gate.Key { return gate.Key{Pkg: "example.com/m", Name: name} }

// sampleOf is a sample with k=2, ir in hundredths.
func sampleOf(name string, hundredths int64) gate.Sample {
	return gate.Sample{
		Key: key(name), K: 2, IrPerOp: gate.Slope(hundredths, 2), AllocsPerOp: gate.Slope(3, 0), BytesPerOp: gate.Slope(1285, 1),
		Lo: gate.Run{N: 101, Ir: 2_000_000}, Hi: gate.Run{N: 201, Ir: 2_000_000 + hundredths},
	}
}

// budgetOf is a budget for sampleOf.
func budgetOf(hundredths int64) gate.Budget {
	return gate.Budget{Ir: gate.Slope(hundredths, 2), K: 2, Allocs: gate.Slope(3, 0), Bytes: gate.Slope(1285, 1)}
}

func limited(b gate.Budget) gate.Budget {
	b.Limit = 1000
	return b
}

func with(s gate.Sample, f func(*gate.Sample)) gate.Sample {
	f(&s)
	return s
}

// everyVerdict is a judgement in which each verdict occurs.
func everyVerdict() gate.Judgement {
	b := gate.Budgets{Rows: map[gate.Key]gate.Budget{
		key("Broken"):       budgetOf(100_000),
		key("Empty"):        budgetOf(100_000),
		key("Improved"):     budgetOf(1_841_200),
		key("Incomparable"): budgetOf(100_000),
		key("OK"):           budgetOf(100_000),
		key("OKless"):       budgetOf(100_000),
		key("Regressed"):    limited(budgetOf(1_841_200)),
		key("Removed"):      budgetOf(100_000),
		key("Unstable"):     budgetOf(100_000),
		key("Warned"):       budgetOf(100_000),
		key("Z/filtered"):   budgetOf(100_000),
	}, Notes: []string{"budgets were recorded with valgrind 3.18.1, this is 3.19.0: compared all the same"}}
	samples := []gate.Sample{
		sampleOf("OK", 100_000),
		sampleOf("OKless", 99_950),
		sampleOf("Warned", 100_500),
		sampleOf("Improved", 1_749_140),
		sampleOf("Regressed", 1_924_421),
		sampleOf("New", 5_000),
		with(sampleOf("Incomparable", 100_000), func(s *gate.Sample) { s.K, s.Lo.N, s.Hi.N = 3, 1001, 2001 }),
		with(sampleOf("Unstable", 100_000), func(s *gate.Sample) {
			s.Fault = &gate.Fault{Verdict: gate.Unstable, Reason: "1000 and 1010 Ir/op in two runs of the same code"}
		}),
		with(sampleOf("Empty", 300), func(s *gate.Sample) {
			s.Fault = &gate.Fault{Verdict: gate.Empty, Reason: "3 Ir/op, no more than its empty loop"}
		}),
		gate.BrokenSample(key("Broken"), "fails: m_test.go:7: <no> & \"never\"\nsecond line\n"),
	}
	return gate.Check(samples, b, func(k gate.Key) bool { return k.Name != "Z/filtered" })
}

func text(t *testing.T, d *Document, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.WriteText(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jsonOf(t testing.TB, d *Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextVerdicts(t *testing.T) {
	j := everyVerdict()
	d := Judged(target, tools, j, run)
	d.Summarize(gate.ExitOver, "")
	want := `linux/amd64  go1.26.8  cachegrind 3.19.0  11 benchmarks: 1 regressed, 1 removed, 1 broken, 1 unstable, 1 empty, 1 incomparable, 1 new, 1 warned, 1 improved, 2 ok
        Ir/op  allocs/op  B/op  k
New        50          3   129  2  new
OK      1,000          3   129  2  ok
OKless  1,000          3   129  2  ok  -0.05 %

improved      Improved      18,412 → 17,491  -5.00 %  limit +1 % (default)           allocs/op 3, B/op 128.5 (unchanged)
              could get 6.32 % dearer before this budget notices: lower it with ` + "`perfgate update`" + `
warned        Warned         1,000 →  1,005  +0.50 %  limit +1 % (default)           allocs/op 3, B/op 128.5 (unchanged)
incomparable  Incomparable  measured with k=3, the budget with k=2
empty         Empty         3 Ir/op, no more than its empty loop
unstable      Unstable      1000 and 1010 Ir/op in two runs of the same code
broken        Broken        fails: m_test.go:7: <no> & "never"
                            second line
removed       Removed       has a budget and no longer exists
regressed     Regressed     18,412 → 19,244  +4.52 %  limit +0.1 % (baselines.json)  allocs/op 3, B/op 128.5 (unchanged)
              unrelated edits can move the instructions of a benchmark that allocates by up to 0.6 %, and the limit is tighter
ok  2  unchanged to the instruction: 1
out of scope: 1 budget not looked at
note: budgets were recorded with valgrind 3.18.1, this is 3.19.0: compared all the same
fail: 1 of 11 benchmarks regressed, 1 removed, 1 broken, 1 unstable, 1 empty, 1 incomparable, 1 new, 1 improved (Regressed +4.52 %)  12.3 s
`
	if got := text(t, d, TextOptions{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTextRun(t *testing.T) {
	samples := []gate.Sample{gate.BrokenSample(key("Bad"), "exit status 2"), sampleOf("Store/size=1024", 291_342), {Key: key("Uncounted")}}
	got := text(t, New(target, tools, samples, run), TextOptions{})
	want := `linux/amd64  go1.26.8  cachegrind 3.19.0
                 Ir/op  allocs/op  B/op  k
Store/size=1024  2,913          3   129  2

broken  Bad        exit status 2
broken  Uncounted  no count
1 benchmark measured, 2 not  12.3 s
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := text(t, New(target, tools, nil, run), TextOptions{}), "linux/amd64  go1.26.8  cachegrind 3.19.0\n0 benchmarks measured  12.3 s\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTextPackages(t *testing.T) {
	samples := []gate.Sample{
		with(sampleOf("A", 100_000), func(s *gate.Sample) { s.Pkg = "example.com/m/a" }),
		with(sampleOf("B", 200_000), func(s *gate.Sample) { s.Pkg = "example.com/m/a" }),
		gate.BrokenSample(gate.Package("example.com/m/bad"), "does not compile: x"),
		gate.BrokenSample(gate.Key{Pkg: "example.com/m/c", Name: "A"}, "skips itself: y"),
		with(sampleOf("A", 300_000), func(s *gate.Sample) { s.Pkg = "example.com/m/d" }),
	}
	got := text(t, New(target, tools, samples, run), TextOptions{})
	want := `linux/amd64  go1.26.8  cachegrind 3.19.0
   Ir/op  allocs/op  B/op  k
example.com/m/a
A  1,000          3   129  2
B  2,000          3   129  2
example.com/m/d
A  3,000          3   129  2

broken  example.com/m/bad  does not compile: x
broken  example.com/m/c A  skips itself: y
3 benchmarks measured, 2 not  12.3 s
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTextCollapses: many rows that are ok are counted, all others shown.
func TestTextCollapses(t *testing.T) {
	for _, n := range []int{maxRows - 2, maxRows - 1} {
		budgets := gate.Budgets{Rows: map[gate.Key]gate.Budget{key("Red"): budgetOf(100)}}
		samples := []gate.Sample{gate.BrokenSample(key("B"), "exit status 2"), sampleOf("Red", 200)}
		for i := range n {
			s := sampleOf(fmt.Sprintf("A/n=%03d", i), 100_000)
			samples, budgets.Rows[s.Key] = append(samples, s), budgetOf(100_000)
		}
		d := Judged(target, tools, gate.Check(samples, budgets, nil), run)
		short, all := text(t, d, TextOptions{}), text(t, d, TextOptions{All: true})
		if got := strings.Count(all, "A/n="); got != n {
			t.Errorf("%d rows, all asked for: got %d, want %d", n, got, n)
		}
		want := n
		if n+2 > maxRows {
			want = 0
		}
		if got := strings.Count(short, "A/n="); got != want {
			t.Errorf("%d rows: got %d, want %d", n, got, want)
		}
		for _, line := range []string{"broken     B    exit status 2\n", "regressed  Red  1 → 2  +100.00 %", fmt.Sprintf("ok  %d  unchanged to the instruction: %[1]d\n", n)} {
			if !strings.Contains(short, line) {
				t.Errorf("%d rows: got %s, want %q in it", n, short, line)
			}
		}
	}
	var samples []gate.Sample
	for i := range maxRows + 1 {
		samples = append(samples, sampleOf(fmt.Sprintf("A/n=%03d", i), 100_000))
	}
	if got := strings.Count(text(t, New(target, tools, samples, run), TextOptions{}), "A/n="); got != len(samples) {
		t.Errorf("a run: got %d rows, want all %d", got, len(samples))
	}
	d := Judged(target, tools, gate.Check(samples, gate.Budgets{Missing: "no such target"}, nil), run)
	if got := text(t, d, TextOptions{}); !strings.Contains(got, "\nincomparable  41 benchmarks  no such target\n") || strings.Contains(got, "A/n=") {
		t.Errorf("got %s, want one row for all", got)
	}
}

// TestTextThousands: of 3,000 rows a screen is shown, and the rest is counted.
func TestTextThousands(t *testing.T) {
	const n = 3000
	budgets := gate.Budgets{Rows: make(map[gate.Key]gate.Budget)}
	var samples []gate.Sample
	for i := range n {
		s := sampleOf(fmt.Sprintf("A/n=%04d", i), 100_000+int64(i)*1000)
		s.Pkg = fmt.Sprintf("example.com/m/p%d", i/100)
		samples, budgets.Rows[s.Key] = append(samples, s), budgetOf(100_000)
	}
	measured := New(target, tools, samples, run)
	fresh := Judged(target, tools, gate.Check(samples, gate.Budgets{Rows: make(map[gate.Key]gate.Budget)}, nil), run)
	for i := range n {
		fresh.Changes = append(fresh.Changes, Change{Pkg: "example.com/m", Name: fmt.Sprintf("C%d", i), New: new(budgetOf(100))})
	}
	red := Judged(target, tools, gate.Check(samples, budgets, nil), run)
	for _, c := range []struct {
		name  string
		d     *Document
		lines []string
	}{
		{"run", measured, []string{"A/n=0000  1,000 ", "... and 2960 benchmarks more (-v shows all)", "  60  example.com/m/p0", " 100  example.com/m/p19", "and in 10 packages more", "3000 benchmarks measured"}},
		{"new", fresh, []string{"A/n=0000  1,000 ", "... and 2960 benchmarks more (-v shows all)", "budgets: 3000 changed", "... and 2960 more (-v shows all)"}},
		{"check", red, []string{"regressed  2959 benchmarks more (-v shows all)", "example.com/m/p29 A/n=2999", "ok  1"}},
	} {
		short, all := text(t, c.d, TextOptions{}), text(t, c.d, TextOptions{All: true})
		if got := strings.Count(short, "\n"); got > 120 {
			t.Errorf("%s: got %d lines", c.name, got)
		}
		if got := strings.Count(all, "A/n="); got < n {
			t.Errorf("%s: got %d rows, all asked for, want %d", c.name, got, n)
		}
		for _, line := range c.lines {
			if !strings.Contains(short, line) {
				t.Errorf("%s: got %s, want %q in it", c.name, short, line)
			}
		}
	}
}

func TestTextLongReason(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	got := text(t, New(target, tools, []gate.Sample{gate.BrokenSample(key("B"), strings.Join(lines, "\n"))}, run), TextOptions{})
	if !strings.Contains(got, "line 9\n") || strings.Contains(got, "line 10") {
		t.Errorf("got %s, want ten lines", got)
	}
}

func TestSummary(t *testing.T) {
	row := func(v gate.Verdict, name string, delta gate.Percent) gate.Row {
		r := gate.Row{Key: key(name), Verdict: v, Sample: new(sampleOf(name, 100_00+int64(delta)/100)), Budget: new(budgetOf(100_00))}
		r.Metrics[gate.Ir] = gate.Comparison{Was: r.Budget.Ir, Now: r.Sample.IrPerOp, Verdict: v}
		return r
	}
	red := func(n int) []gate.Row {
		var rows []gate.Row
		for i := range n {
			rows = append(rows, row(gate.Regressed, fmt.Sprintf("R%d", i), 45_200))
		}
		return rows
	}
	allocs := red(1)
	allocs[0].Decided = gate.Allocs
	allocs[0].Metrics[gate.Allocs] = gate.Comparison{Metric: gate.Allocs, Now: 1_0000, Verdict: gate.Regressed}
	allocs[0].Sample.AllocsPerOp = 1_0000
	tests := []struct {
		rows []gate.Row
		exit int
		want string
	}{
		{[]gate.Row{row(gate.OK, "A", 0)}, gate.ExitOK, "pass: 1 benchmark within budget"},
		{[]gate.Row{row(gate.OK, "A", 0), row(gate.Warned, "B", 3000), row(gate.Improved, "C", -20_000), row(gate.New, "D", 0)}, gate.ExitOK,
			"pass: 3 benchmarks within budget, 1 budget can be lowered: perfgate update, 1 near the limit, 1 new"},
		{[]gate.Row{row(gate.OK, "A", 0), {Key: key("Z"), Verdict: gate.Removed}}, gate.ExitOK, "pass: 1 benchmark within budget, 1 removed"},
		{red(1), gate.ExitOver, "fail: 1 of 1 benchmark regressed (R0 +4.52 %)"},
		{allocs, gate.ExitOver, "fail: 1 of 1 benchmark regressed (R0 0 → 1 allocs/op)"},
		{append(red(3), row(gate.OK, "A", 0)), gate.ExitOver, "fail: 3 of 4 benchmarks regressed (R0 +4.52 %, R1 +4.52 %, R2 +4.52 %)"},
		{append(red(4), row(gate.Broken, "B", 0)), gate.ExitOver, "fail: 4 of 5 benchmarks regressed, 1 broken (R0 +4.52 %, R1 +4.52 %, R2 +4.52 %, ...)"},
		{[]gate.Row{row(gate.New, "A", 0), row(gate.Warned, "B", 3000)}, gate.ExitIncomparable, "fail: 1 of 2 benchmarks new"},
		{[]gate.Row{row(gate.Improved, "A", -20_000)}, gate.ExitOver, "fail: 1 of 1 benchmark improved"},
		{[]gate.Row{row(0, "A", 0)}, gate.ExitFault, "fail: 1 of 1 benchmark unjudged"},
		{nil, gate.ExitUsage, "fail: nothing was judged"},
	}
	for _, test := range tests {
		d := Judged(target, tools, gate.Judgement{Rows: test.rows}, run)
		if d.Summarize(test.exit, "perfgate update"); d.Summary != test.want {
			t.Errorf("got %q, want %q", d.Summary, test.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for q, want := range map[gate.PerOp]string{
		0: "0", 4_999: "0", 9_990_000: "999", 10_000_000: "1,000", 9_999_999: "1,000", 12_345_678_000_000: "1,234,567,800",
		-10_000: "-1", -9_990_000: "-999", -10_000_000: "-1,000", -1_000_000_000: "-100,000",
	} {
		if got := Thousands(q); got != want {
			t.Errorf("%v: got %s, want %s", q, got, want)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for name, d := range map[string]*Document{
		"judged": Judged(target, tools, everyVerdict(), run),
		"run":    New(target, tools, []gate.Sample{sampleOf("A", 1), gate.BrokenSample(key("B"), "x")}, run),
		"none":   New(target, tools, nil, run),
	} {
		want := jsonOf(t, d)
		back, err := ReadJSON(strings.NewReader(want))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := jsonOf(t, back); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		o := TextOptions{}
		if got, want := text(t, back, o), text(t, d, o); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestJSONForm: the order of the members, with what differs between equal runs
// last, so that it can be cut off.
func TestJSONForm(t *testing.T) {
	d := Judged(target, tools, gate.Check(
		[]gate.Sample{with(sampleOf("A/<b>", 291_342), func(s *gate.Sample) { s.CGO = true })},
		gate.Budgets{Rows: map[gate.Key]gate.Budget{key("A/<b>"): {Ir: gate.Slope(290_000, 2), K: 2, Bytes: gate.Slope(128, 0), Allocs: gate.Slope(3, 0), BytesLimit: 5_0000, CGO: true}, key("C"): budgetOf(1)}, Notes: []string{"a & b"}},
		func(k gate.Key) bool { return k.Name != "C" }), run)
	want := `{
  "schema": 1,
  "target": {
    "goos": "linux",
    "goarch": "amd64",
    "level": "v1",
    "goexperiment": "",
    "cgo_enabled": "0",
    "method": "cachegrind",
    "rules": 1,
    "cpu": "avx2 sse3",
    "flags": ""
  },
  "toolchain": {
    "go": "go1.26.8",
    "valgrind": "3.19.0"
  },
  "summary": "pass: 1 benchmark within budget, 1 near the limit",
  "benchmarks": [
    {
      "pkg": "example.com/m",
      "name": "A/<b>",
      "ir_per_op": 2913.42,
      "k": 2,
      "allocs_per_op": 3,
      "bytes_per_op": 128.5,
      "cgo_enabled": "1",
      "verdict": "warned",
      "decided_by": "ir_per_op",
      "budget": 2900,
      "delta_pct": 0.4628,
      "limit_pct": 1,
      "limit_from": "default",
      "allocs": {
        "budget": 3,
        "delta_pct": 0,
        "limit_pct": 1,
        "limit_from": "default"
      },
      "bytes": {
        "budget": 128,
        "delta_pct": 0.3906,
        "limit_pct": 5,
        "limit_from": "baselines.json"
      }
    }
  ],
  "out_of_scope": 1,
  "notes": [
    "a & b"
  ],
  "run": {
    "host": "host",
    "seconds": 12.34,
    "jobs": 2,
    "valgrind_starts": 20,
    "totals": [
      {
        "pkg": "example.com/m",
        "name": "A/<b>",
        "low_n": 101,
        "low_ir": 2000000,
        "high_n": 201,
        "high_ir": 2291342
      }
    ]
  }
}
`
	d.Summarize(gate.ExitOK, "")
	if got := jsonOf(t, d); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestJSONEqual: equal measurements differ in nothing but run, whatever that is.
func TestJSONEqual(t *testing.T) {
	upToRun := func(s string) string {
		i := strings.LastIndex(s, "\n  \"run\": {")
		if i < 0 {
			t.Fatalf("no run in %s", s)
		}
		return s[:i]
	}
	first := jsonOf(t, Judged(target, tools, everyVerdict(), run))
	for range 20 {
		other := Run{Host: "else", Seconds: 1, Jobs: 8, ValgrindStarts: 1, Totals: []Total{}}
		if got := jsonOf(t, Judged(target, tools, everyVerdict(), other)); upToRun(got) != upToRun(first) || got == first {
			t.Fatalf("got %s, want %s", got, first)
		}
		if got := jsonOf(t, Judged(target, tools, everyVerdict(), run)); got != first {
			t.Fatalf("got %s, want %s", got, first)
		}
	}
}

func TestReadJSONTruncated(t *testing.T) {
	whole := jsonOf(t, Judged(target, tools, everyVerdict(), run))
	for n := range len(whole) - 1 { // the last byte is a line end
		if _, err := ReadJSON(strings.NewReader(whole[:n])); err == nil {
			t.Fatalf("cut at byte %d: want an error", n)
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	one := jsonOf(t, New(target, tools, []gate.Sample{sampleOf("A", 100_000)}, run))
	replaced := func(old, new string) string {
		if !strings.Contains(one, old) {
			t.Fatalf("the document has no %q", old)
		}
		return strings.Replace(one, old, new, 1)
	}
	tests := []struct{ name, text, want string }{
		{"empty", "", "EOF"},
		{"other schema", replaced(`"schema": 1`, `"schema": 2`), "schema 2, this perfgate reads 1"},
		{"no schema", "{}", "schema 0"},
		{"unknown member", replaced(`"schema": 1`, `"schema": 1, "colour": 1`), `unknown field "colour"`},
		{"two documents", one + one, "there is more behind it"},
		{"garbage behind it", one + "x", "there is more behind it"},
		{"unknown verdict", replaced(`"k": 2`, `"verdict": "fine", "k": 2`), `unknown verdict "fine"`},
		{"no k", replaced(`      "k": 2,`, ``), "example.com/m A: ir_per_op, k, allocs_per_op and bytes_per_op go together"},
		{"no count", replaced(`"ir_per_op": 1000,`, ``), "go together"},
		{"k too large", replaced(`"k": 2`, `"k": 1000000000`), "k 1000000000 is not in 0 to 4"},
		{"k negative", replaced(`"k": 2`, `"k": -1`), "k -1 is not in 0 to 4"},
		{"no decimal", replaced(`"ir_per_op": 1000`, `"ir_per_op": 1e3`), "not a decimal"},
		{"delta without a budget", replaced(`"k": 2`, `"delta_pct": 1, "k": 2`), "delta_pct without a count or a budget"},
		{"budget without a limit", replaced(`"k": 2`, `"budget": 1, "k": 2`), "budget and limit_pct go together"},
		{"nothing", `{"schema":1,"benchmarks":[{"pkg":"p","name":"A"}]}`, "p A: neither a count nor a verdict"},
		{"ok without a count", `{"schema":1,"benchmarks":[{"pkg":"p","name":"A","verdict":"ok"}]}`, "p A: ok without a count"},
	}
	for _, test := range tests {
		if _, err := ReadJSON(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q in it", test.name, err, test.want)
		}
	}
}

// FuzzReadJSON: what can be read can be written in every form.
func FuzzReadJSON(f *testing.F) {
	var b bytes.Buffer
	if err := Judged(target, tools, everyVerdict(), run).WriteJSON(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(jsonOf(f, everything())))
	f.Add([]byte(`{"schema":1,"benchmarks":[{"pkg":"p","name":"A","verdict":"removed"}],"run":{}}`))
	f.Add([]byte(`{"schema":1,"benchmarks":[{"pkg":"p","name":"A","verdict":"ok","ir_per_op":1,"k":1,"allocs_per_op":0,"bytes_per_op":0}],"run":{}}`))
	f.Add([]byte(`{"schema":1,"benchmarks":[{"pkg":"p","name":"A","verdict":"new","ir_per_op":1,"k":1,"allocs_per_op":0,"bytes_per_op":0,"budget":5,"limit_pct":1,"delta_pct":1}],"budget_changes":[{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := ReadJSON(bytes.NewReader(text))
		if err != nil {
			return
		}
		for name, write := range forms {
			if err := write(d, io.Discard); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		checkMarkdown(t, d)
	})
}

func TestWriteFails(t *testing.T) {
	d := Judged(target, tools, everyVerdict(), run)
	for name, write := range forms {
		if err := write(d, new(full)); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", name, err, errFull)
		}
	}
}

var errFull = errors.New("no space left")

// full is a disk that is full.
type full struct{}

func (*full) Write(p []byte) (int, error) { return 0, errFull }

// benchSamples are named as benchmarks may be named, in two packages.
func benchSamples(factor int64) []gate.Sample {
	samples := []gate.Sample{
		with(sampleOf("Cheap", 1001*factor), func(s *gate.Sample) { s.AllocsPerOp, s.BytesPerOp = 0, 0 }),
		with(sampleOf("Long/k=0", 0), func(s *gate.Sample) {
			s.K, s.Lo.N, s.Hi.N, s.IrPerOp = 0, 2, 3, gate.Slope(400_123_456*factor, 0)
		}),
		sampleOf("Store/data=a_b/size=1024#01", 291_342*factor),
		sampleOf("Store/x|y", 100_000*factor),
		with(sampleOf("Call", 5_700*factor), func(s *gate.Sample) { s.Pkg += "/native" }),
	}
	return append(samples,
		gate.BrokenSample(key("Zbroken"), "x"),
		with(sampleOf("Zunstable", 1000), func(s *gate.Sample) { s.Fault = &gate.Fault{Verdict: gate.Unstable, Reason: "x"} }))
}

func TestBench(t *testing.T) {
	var b bytes.Buffer
	if err := New(target, tools, benchSamples(1), run).WriteBench(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	r := benchfmt.NewReader(&b, "out")
	var got []string
	for r.Scan() {
		switch x := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("line %d: %v", x.Line, x)
		case *benchfmt.Result:
			line := x.GetConfig("pkg") + " " + x.Name.String() + " " + strconv.Itoa(x.Iters)
			for _, v := range x.Values {
				line += fmt.Sprintf(" %.15g %s", v.Value, v.Unit)
			}
			got = append(got, line)
			for k, want := range map[string]string{"goos": "linux", "goarch": "amd64", "go": "go1.26.8", "valgrind": "3.19.0"} {
				if have := x.GetConfig(k); have != want {
					t.Errorf("%s: got %q, want %q", k, have, want)
				}
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"example.com/m Cheap 100 10.01 Ir/op 0 B/op 0 allocs/op",
		"example.com/m Long/k=0 1 400123456 Ir/op 128.5 B/op 3 allocs/op",
		"example.com/m Store/data=a_b/size=1024#01 100 2913.42 Ir/op 128.5 B/op 3 allocs/op",
		"example.com/m Store/x|y 100 1000 Ir/op 128.5 B/op 3 allocs/op",
		"example.com/m/native Call 100 57 Ir/op 128.5 B/op 3 allocs/op",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s\nof\n%s", g, w, text)
	}
	for _, unit := range []string{"Ir/op", "B/op", "allocs/op"} {
		for k, want := range map[string]string{"better": "lower", "assume": "exact"} {
			if m := r.Units().Get(unit, k); m == nil || m.Value != want {
				t.Errorf("unit %s, %s: got %v, want %s", unit, k, m, want)
			}
		}
	}
}

// TestBenchstat: benchstat compares two single runs, as exact values.
func TestBenchstat(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, factor := range []int64{100, 103} {
		var b bytes.Buffer
		if err := New(target, tools, benchSamples(factor), run).WriteBench(&b); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, []string{"old", "new"}[i])
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	cmd := exec.Command("go", append([]string{"tool", "benchstat"}, files...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	text := string(out)
	for _, name := range []string{"Cheap", "Long/k=0", "Store/data=a_b/size=1024#01", "Store/x|y", "Call"} {
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\S*\s.*\+3\.00%.*$`).FindString(text)
		if row == "" || strings.Contains(row, "~") {
			t.Errorf("%s: got %q, want +3.00%% in\n%s", name, row, text)
		}
	}
	ir, _, _ := strings.Cut(text, "B/op")
	if strings.Contains(ir, "~") || strings.Contains(ir, "need") || stderr.Len() > 0 {
		t.Errorf("got\n%s%s\nwant percentages alone", ir, stderr.String())
	}
}
