//go:build linux

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestShort is one build of ten edits and three benchmarks, with the real
// valgrind: two that allocate, and one that does not.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and counts for some twenty seconds")
	}
	if _, err := exec.LookPath("valgrind"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("valgrind is not installed: scripts/need valgrind")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var out strings.Builder
	o := options{seed: 1, builds: 1, edits: 10, verbose: true, bench: "^Benchmark(HKDF|EncryptNewKey|Store)$/^size=64$"}
	if err := run(t.Context(), "../..", o, &out); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, kind := range kinds {
		if got := strings.Count(out.String(), "          "+kind+" "); got != 2 {
			t.Errorf("%s: got %d edits, want 2\n%s", kind, got, &out)
		}
	}
	nothingIn(t, temp)
}

// TestInterrupted: nothing is left when it ends early.
func TestInterrupted(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, "../..", options{builds: 1, edits: 1}, io.Discard); err == nil || err.Error() != "interrupted" {
		t.Errorf("got %v, want interrupted", err)
	}
	nothingIn(t, temp)
}

func nothingIn(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "unrelated") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestJudge(t *testing.T) {
	const (
		ok     = `{"name": "A", "verdict": "ok", "ir_per_op": 100, "budget": 100, "delta_pct": 0}`
		less   = `{"name": "B", "verdict": "ok", "ir_per_op": 99.9, "budget": 100, "delta_pct": -0.1}`
		red    = `{"name": "C", "verdict": "regressed", "ir_per_op": 101, "budget": 100, "delta_pct": 1}`
		gone   = `{"name": "D", "verdict": "removed", "budget": 100}`
		cannot = `{"name": "E", "verdict": "incomparable", "ir_per_op": 101, "budget": 100, "delta_pct": 1}`
	)
	for _, tt := range []struct {
		rows        []string
		moved       int
		largest     string
		red         []string
		errContains string
	}{
		{rows: []string{ok}, largest: "none"},
		{rows: []string{ok, less}, moved: 1, largest: "-0.1000 %  B  100 → 99.9"},
		{rows: []string{ok, less, red}, moved: 2, largest: "+1.0000 %  C  100 → 101", red: []string{"+1.0000 %  C  100 → 101"}},
		{rows: []string{ok, gone}, errContains: "D: removed: not compared"},
		{rows: []string{cannot}, errContains: "E: incomparable: not compared"},
		{errContains: "judged nothing"},
		{rows: []string{ok, less, red, ok}, errContains: "6 starts of valgrind for 4 benchmarks"},
	} {
		j, err := judge([]byte(`{"benchmarks": [` + strings.Join(tt.rows, ",") + `], "run": {"valgrind_starts": 6}}`))
		if tt.errContains != "" {
			if err == nil || !strings.Contains(err.Error(), tt.errContains) {
				t.Errorf("%s: got error %v, want %q", tt.rows, err, tt.errContains)
			}
			continue
		}
		if err != nil || j.rows != len(tt.rows) || j.moved != tt.moved || j.largest.String() != tt.largest || !slices.Equal(j.red, tt.red) {
			t.Errorf("%s: got %+v, %v", tt.rows, j, err)
		}
	}
}
