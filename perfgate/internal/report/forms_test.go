package report

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cachekit-go/cachekit/perfgate/internal/explain"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// everything is a document in which each member has something.
func everything() *Document {
	d := Judged(target, tools, everyVerdict(), run)
	d.Summarize(gate.ExitOver, "perfgate update")
	d.Locate(func(k gate.Key) Place {
		if k.Name == "Broken" {
			return Place{}
		}
		return Place{"core/m_test.go", 10 + len(k.Name)}
	})
	d.Explain(func(k gate.Key) *explain.Explanation {
		if k.Name != "Regressed" {
			return nil
		}
		return &explain.Explanation{
			Source: `budget from 3f2c1a9 "lz4block: look twice | after a match"`,
			Functions: []explain.Function{
				{Group: explain.Yours, Name: "example.com/m/core.(*encoder).match", New: 800_0000, Delta: 800_0000, Lines: []explain.Line{
					{File: "core/encode.go", Line: 118, New: 700_0000, Delta: 700_0000},
				}},
				{Group: explain.Runtime, Name: "runtime.memmove", Old: 10_0000, New: 30_0000, Delta: 20_0000},
			},
			Other: 12_2100, Old: 18_412_0000, New: 19_244_2100, Delta: 832_2100,
		}
	})
	old := budgetOf(1_841_200)
	dearer, own := budgetOf(1_924_421), limited(old)
	dearer.Allocs, dearer.Reason = 4_0000, "looks <twice>"
	d.SetChanges([]gate.BudgetChange{
		{Key: key("Regressed"), Target: target, Old: &old, New: &dearer, Reason: dearer.Reason},
		{Key: key("Removed"), Target: target, Old: &old},
		{Key: key("Tight"), Target: target, Old: &old, New: &own},
		{Key: key("Young"), Target: target, New: &old},
	})
	return d
}

// forms are all that a document can be written as.
var forms = map[string]func(*Document, io.Writer) error{
	"text":        func(d *Document, w io.Writer) error { return d.WriteText(w, TextOptions{}) },
	"text.color":  func(d *Document, w io.Writer) error { return d.WriteText(w, TextOptions{All: true, Color: true}) },
	"json":        func(d *Document, w io.Writer) error { return d.WriteJSON(w) },
	"markdown":    func(d *Document, w io.Writer) error { return d.WriteMarkdown(w) },
	"github":      func(d *Document, w io.Writer) error { return d.WriteGitHub(w, "sub/folder", gate.Options{}) },
	"bench":       func(d *Document, w io.Writer) error { return d.WriteBench(w) },
	"bencher":     func(d *Document, w io.Writer) error { return d.WriteBencher(w) },
	"github.root": func(d *Document, w io.Writer) error { return d.WriteGitHub(w, "", gate.Options{NewAllowed: true}) },
}

// TestForms compares each form with a file; go test -update writes them.
func TestForms(t *testing.T) {
	for name, write := range forms {
		var b strings.Builder
		if err := write(everything(), &b); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "everything."+name)
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, b.String(), want)
		}
	}
}

// TestFormsFromJSON: what is read again gives the same in every form.
func TestFormsFromJSON(t *testing.T) {
	d := everything()
	back, err := ReadJSON(strings.NewReader(jsonOf(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range forms {
		var a, b strings.Builder
		if err := write(d, &a); err != nil {
			t.Fatal(err)
		}
		if err := write(back, &b); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", name, b.String(), a.String())
		}
	}
}

// many is a document of n rows of each kind, with names and reasons of s.
func many(n int, s string) *Document {
	verdict := func(v gate.Verdict) *gate.Verdict { return &v }
	b := Benchmark{IrPerOp: new(gate.PerOp(20_0000)), K: new(2), AllocsPerOp: new(gate.PerOp), BytesPerOp: new(gate.PerOp), DecidedBy: new(gate.Ir),
		Budget: new(gate.PerOp(10_0000)), DeltaPct: new(gate.Percent(100_0000)), LimitPct: new(gate.Percent(1_0000)), LimitFrom: s,
		Allocs: new(Budgeted{DeltaPct: new(gate.Percent), LimitPct: 1_0000, LimitFrom: s}), Bytes: new(Budgeted{DeltaPct: new(gate.Percent), LimitPct: 1_0000, LimitFrom: s})}
	d := &Document{Schema: Schema, Target: target, Toolchain: gate.Toolchain{Go: s, Valgrind: s}, Run: run, OutOfScope: n}
	for i := range n {
		b.Pkg, b.Name, b.File, b.Line = "example.com/"+s, fmt.Sprintf("%d%s", i, s), s, i
		b.Verdict, b.Reason, b.Notes = verdict(gate.Regressed), "", []string{s}
		b.Explanation = &explain.Explanation{Source: s, Functions: []explain.Function{{Group: explain.Yours, Name: s, New: 5, Delta: 5}}, Old: 1, New: 6, Delta: 5}
		d.Benchmarks = append(d.Benchmarks, b)
		d.Benchmarks = append(d.Benchmarks, Benchmark{Pkg: b.Pkg, Name: b.Name + "x", Verdict: verdict(gate.Broken), Reason: s + "\n" + s})
		d.Changes = append(d.Changes, Change{Pkg: b.Pkg, Name: b.Name, Old: new(budgetOf(100)), New: new(budgetOf(200)), Reason: s})
		d.Notes = append(d.Notes, s)
	}
	d.Summarize(gate.ExitOver, "")
	return d
}

var (
	tag   = regexp.MustCompile(`</?(code|pre|details|summary|br)>|<!-- -->`)
	entry = regexp.MustCompile(`&(#[0-9]+|amp|lt|gt);`)
)

// checkMarkdown demands that a text is within bounds and has no markup but the
// writer's own.
func checkMarkdown(t *testing.T, d *Document) {
	t.Helper()
	var b strings.Builder
	if err := d.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if len(text) > MaxMarkdown || !utf8.ValidString(text) {
		t.Fatalf("%d bytes, valid: %v", len(text), utf8.ValidString(text))
	}
	head, _, _ := strings.Cut(text, "\n")
	if want := "**" + escape(shorten(d.Summary, 500)) + "**"; head != want {
		t.Fatalf("first line: got %q, want %q", head, want)
	}
	pre := false
	columns := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "<pre>":
			pre = true
			continue
		case line == "</pre>":
			pre = false
			continue
		}
		rest := tag.ReplaceAllString(line, "")
		if strings.ContainsAny(rest, "<>") {
			t.Fatalf("markup in %q", line)
		}
		if strings.Contains(entry.ReplaceAllString(rest, ""), "&") {
			t.Fatalf("a bare & in %q", line)
		}
		if pre {
			continue
		}
		if strings.ContainsAny(rest, "`[]_~\\@") || strings.Contains(strings.Trim(rest, "*"), "*") && !strings.HasPrefix(line, "|") {
			t.Fatalf("markup in %q", line)
		}
		switch n := strings.Count(line, "|"); {
		case !strings.HasPrefix(line, "|"):
			columns = 0
			if n > 0 {
				t.Fatalf("a bare | in %q", line)
			}
		case columns == 0:
			columns = n
		case n != columns:
			t.Fatalf("%d bars in %q, want %d", n, line, columns)
		}
	}
	if pre || strings.Count(text, "<details>") != strings.Count(text, "</details>") {
		t.Fatal("a fold stays open")
	}
}

// TestMarkdownBound: the bound holds whatever the names are, and most of the
// room is used.
func TestMarkdownBound(t *testing.T) {
	for _, s := range []string{
		"", "a|b", "`", "<script>", "@someone #1 <!-- -->", "a\nb\r\n\n# c", strings.Repeat("@", 1000), strings.Repeat("|", 500), strings.Repeat("€", 700),
		strings.Repeat("<", 2000), "\xff\xfe", "\x1b[31m\u202e", "</pre></details>", "&lt;", "https://example.com/_x_*y*",
	} {
		for _, n := range []int{1, 5, 120} {
			d := many(n, s)
			checkMarkdown(t, d)
			var b strings.Builder
			if err := d.WriteMarkdown(&b); err != nil {
				t.Fatal(err)
			}
			if text := b.String(); s == "a|b" && n == 120 && len(text) < MaxMarkdown/2 {
				t.Errorf("%q, %d rows: %d bytes", s, n, len(text))
			}
		}
	}
	checkMarkdown(t, everything())
	checkMarkdown(t, &Document{})
}

// FuzzForms: no name or reason breaks a form.
func FuzzForms(f *testing.F) {
	f.Add("a|b`<x>@y\n", 3)
	f.Add("%0A::error::\r", 12)
	f.Fuzz(func(t *testing.T, s string, n int) {
		d := many(min(max(n, 0), 100), s)
		checkMarkdown(t, d)
		checkGitHub(t, d)
		var b strings.Builder
		if err := d.WriteBencher(&b); err != nil || !json.Valid([]byte(b.String())) {
			t.Errorf("got %v, %s", err, b.String())
		}
	})
}

var command = regexp.MustCompile(`^::(error|warning|notice) (file=[^:,]*,line=[0-9]+,)?title=[^:,]*::[^\n\r]*$`)

// checkGitHub demands one workflow command a line, and no more than are shown.
func checkGitHub(t *testing.T, d *Document) {
	t.Helper()
	var b strings.Builder
	if err := d.WriteGitHub(&b, "", gate.Options{}); err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for line := range strings.Lines(b.String()) {
		m := command.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("got %q, want a workflow command", line)
		}
		n[m[1]]++
	}
	if n["error"] > 10 || n["warning"] > 10 || n["notice"] != 1 {
		t.Fatalf("got %v, want ten at most, and a notice", n)
	}
}

func TestGitHubCounts(t *testing.T) {
	d := many(20, "a,b:c%d\n")
	checkGitHub(t, d)
	var b strings.Builder
	if err := d.WriteGitHub(&b, "x", gate.Options{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "; not shown: 30 more errors\n") || !strings.Contains(text, "file=x/a%2Cb%3Ac%25d%0A,line=") {
		t.Errorf("got %s", text)
	}
}
