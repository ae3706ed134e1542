//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// text returns a document as perfgate writes it.
func text(rows ...string) string {
	return `{"benchmarks": [` + strings.Join(rows, ",") + `], "run": {"totals": [` +
		`{"name": "A", "low_ir": 1000}, {"name": "B/x", "low_ir": 3000}]}}`
}

const (
	rowA  = `{"name": "A", "ir_per_op": 10.25, "k": 2}`
	rowA2 = `{"name": "A", "ir_per_op": 10.26, "k": 2}`
	rowB  = `{"name": "B/x", "ir_per_op": 7, "k": 3}`
)

func TestJudge(t *testing.T) {
	const (
		broken = `{"name": "A", "verdict": "broken", "reason": "it fails"}`
		parent = `{"name": "B", "verdict": "broken", "reason": "its parent fails"}`
		whole  = `{"name": "*", "verdict": "broken", "reason": "does not compile"}`
	)
	tests := []struct {
		name, bench, first, second string
		equal                      bool
		ir, reason                 string
	}{
		{"equal", "A", text(rowA, rowB), text(rowA), true, "10.25", ""},
		{"other Ir/op", "A", text(rowA), text(rowA2), false, "10.25", "10.25 and 10.26 Ir/op"},
		{"other total", "A", text(rowA), strings.Replace(text(rowA), "1000", "1001", 1), false, "10.25", "equal Ir/op, but\n"},
		{"other member", "A", text(rowA), text(strings.Replace(rowA, `"k": 2`, `"k": 3`, 1)), false, "10.25", "equal Ir/op, but\n"},
		{"not counted", "A", text(broken, rowB), text(), false, "", "broken: it fails"},
		{"not counted again", "A", text(rowA), text(broken), false, "", "the second time broken: it fails"},
		{"parent", "B/x", text(parent), text(), false, "", "broken: its parent fails"},
		{"package", "A", text(whole), text(), false, "", "broken: does not compile"},
		{"missing", "B/x", text(rowA), text(rowA), false, "", "missing: "},
		{"remembered", "A", text(rowA), strings.Replace(text(rowA), `{"totals"`, `{"cached": ["p"], "totals"`, 1), false, "10.25", "a count is a remembered one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first, err := parseDocument([]byte(tt.first))
			second, err2 := parseDocument([]byte(tt.second))
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			o := judge(benchmark{name: tt.bench}, first, second)
			if o.equal != tt.equal || o.ir != tt.ir || !strings.HasPrefix(o.reason, tt.reason) || tt.reason == "" && o.reason != "" {
				t.Errorf("got %+v, want equal %v, %q, %q", o, tt.equal, tt.ir, tt.reason)
			}
		})
	}
}

func TestParseDocumentCut(t *testing.T) {
	whole := text(rowA, rowB)
	for i := range whole {
		if _, err := parseDocument([]byte(whole[:i])); err == nil {
			t.Fatalf("no error for the first %d bytes", i)
		}
	}
}

func TestCrashed(t *testing.T) {
	tests := []struct {
		status           int
		stderr, document string
		want             string
	}{
		{0, "perfgate: counted 3 of 3\n", "", ""},
		{1, "", "", ""},
		{1, "perfgate: go list: no such package\n", "no document", "no document"},
		{2, "", "", "it ended with status 2"},
		{-1, "", "", "it ended with status -1"},
		{2, "panic: oh\n\ngoroutine 1 [running]:\n", "no document", "it dumped a stack"},
		{1, "perfgate: A: panic: oh\n", "", ""},
		{0, "fatal error: all goroutines are asleep\n", "", "it dumped a stack"},
	}
	for _, tt := range tests {
		var document error
		if tt.document != "" {
			document = errors.New(tt.document)
		}
		if got := fmt.Sprint(crashed(tt.status, tt.stderr, document)); got != tt.want && (tt.want != "" || got != "<nil>") {
			t.Errorf("%d, %q: got %s, want %q", tt.status, tt.stderr, got, tt.want)
		}
	}
}

// TestList: no benchmark is listed twice, and each pattern is one that regexp
// takes and that means the benchmark alone.
func TestList(t *testing.T) {
	n := 0
	for _, m := range all() {
		if len(m.benchmarks) < 3 {
			t.Errorf("%v: %d benchmarks, want three", m, len(m.benchmarks))
		}
		for i, b := range m.benchmarks {
			n++
			if slices.Contains(m.benchmarks[:i], b) {
				t.Errorf("%v: %s is there twice", m, b.name)
			}
			for elem := range strings.SplitSeq(pattern([]benchmark{b}), "/") {
				if _, err := regexp.Compile(elem); err != nil {
					t.Errorf("%v: %s: %v", m, b.name, err)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("got %d benchmarks, want 20 or more", n)
	}
	if got, want := pattern([]benchmark{{name: "A/x:_(*p.T)"}, {name: "B"}}), `^BenchmarkA$/^x:_\(\*p\.T\)$|^BenchmarkB$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTable(t *testing.T) {
	m := module{path: "example.com/m", version: "v1.2.3"}
	var found table
	for i := range 20 {
		found.add([]outcome{{module: m, benchmark: benchmark{dir: "p", name: fmt.Sprint("A", i)}, ir: "12.5", equal: i > 0, reason: "12.5 and 13 Ir/op\nbecause", native: "it took 2 s"}})
	}
	if err := found.err(95); err != nil {
		t.Error(err)
	}
	if err := found.err(96); err == nil || err.Error() != "19 of 20 equal: fewer than 96 %" {
		t.Errorf("got %v", err)
	}
	var out strings.Builder
	found.print(&out)
	for _, want := range []string{
		"example.com/m@v1.2.3  p/A0       12.5   no     see below\n", "example.com/m@v1.2.3  p/A19      12.5   yes    \n",
		"\nexample.com/m@v1.2.3 ./p A0\n  12.5 and 13 Ir/op\n  because\n  it took 2 s\n", "\n19 of 20 equal\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant in it %q", &out, want)
		}
	}
	if new(table).err(95) == nil {
		t.Error("no error without a benchmark")
	}
}

// TestGroup tries a module of one benchmark that is good and one that fails,
// with a perfgate that says what it is told.
func TestGroup(t *testing.T) {
	const failing = `{"name": "B/x", "verdict": "broken", "reason": "fails: b_test.go:9: no"}`
	tests := []struct {
		name, perfgate string // shell; $n is the number of the run
		want           string // error
		a, b           string // reasons
	}{
		{"one fails", `case $n in 1) cat both; exit 1;; 2) cat a;; esac`, "", "", "broken: fails: b_test.go:9: no\nnatively"},
		{"one is unstable", `case $n in 1) cat both; exit 1;; 2) cat a2;; *) cat unstable; exit 1;; esac`, "", "unstable: differs in f\nnatively", "broken: fails"},
		{"equal by chance", `case $n in 1) cat both; exit 1;; 2) cat a2;; *) cat a;; esac`, "", "10.25 and 10.26 Ir/op\nnatively", "broken: fails"},
		{"crashes", `echo 'panic: oh' >&2; exit 2`, "it dumped a stack", "", ""},
		{"leaves a file", `cat both; touch $TMPDIR/perfgate-0; exit 1`, "perfgate left perfgate-0 behind", "", ""},
		{"says nothing", `exit 0`, "reading perfgate's document", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{
				"both": text(rowA, failing), "a": text(rowA), "a2": text(rowA2),
				"unstable": text(`{"name": "A", "ir_per_op": 10.25, "verdict": "unstable", "reason": "differs in f"}`),
				"perfgate": "#!/bin/sh\ncd " + dir + "; echo >>runs; n=$(wc -l <runs)\n" + tt.perfgate + "\n",
				"m/go.mod": "module example.com/m\n\ngo 1.24\n",
				"m/b_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkA(b *testing.B) {}\n\n" +
					"func BenchmarkB(b *testing.B) { b.Run(\"x\", func(b *testing.B) { b.Fatal(\"no\") }) }\n",
			}
			for name, text := range files {
				file := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o700)); err != nil {
					t.Fatal(err)
				}
			}
			temp := filepath.Join(dir, "t")
			if err := os.Mkdir(temp, 0o700); err != nil {
				t.Fatal(err)
			}
			l := &lab{dir: dir, perfgate: filepath.Join(dir, "perfgate"), temp: temp, jobs: 1, env: append(os.Environ(), "TMPDIR="+temp, "GOFLAGS=", "GOWORK=off")}
			outcomes, err := l.tryGroup(t.Context(), filepath.Join(dir, "m"), []benchmark{{dir: ".", name: "A"}, {dir: ".", name: "B/x"}})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil || len(outcomes) != 2 {
				t.Fatalf("got %+v, %v, want two outcomes", outcomes, err)
			}
			for i, want := range []string{tt.a, tt.b} {
				if got := strings.TrimSpace(outcomes[i].reason + "\n" + outcomes[i].native); !strings.HasPrefix(got, want) || want == "" && !outcomes[i].equal {
					t.Errorf("%s: got %q, want %q", outcomes[i].name, got, want)
				}
			}
			if got, want := outcomes[1].native, "b_test.go:7: no"; !strings.Contains(got, want) {
				t.Errorf("got %q, want %q in it", got, want)
			}
		})
	}
}

func TestSame(t *testing.T) {
	before := map[string]string{"a": "1", "b": "2"}
	for _, tt := range []struct {
		after map[string]string
		want  string
	}{
		{map[string]string{"a": "1", "b": "2"}, ""},
		{map[string]string{"a": "1", "b": "3"}, "a run changed b"},
		{map[string]string{"a": "1"}, "a run changed b"},
		{map[string]string{"a": "1", "b": "2", "c": "4"}, "a run left c behind"},
	} {
		if err := same(before, tt.after); err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// TestInterrupted: nothing is left when it ends early.
func TestInterrupted(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newLab(ctx, "../..", 1); err == nil || err.Error() != "interrupted" {
		t.Errorf("got %v, want interrupted", err)
	}
	entries, err := os.ReadDir(temp)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
