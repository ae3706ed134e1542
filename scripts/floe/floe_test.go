package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	core "github.com/cachekit-go/cachekit/core/floe"

	"github.com/cachekit-go/cachekit/bench/floe"
	"github.com/cachekit-go/cachekit/scripts/internal/original"
	"github.com/cachekit-go/cachekit/scripts/internal/stopwatch"
)

// steady is a clock by which everything takes the same time.
func steady() stopwatch.Clock {
	var now time.Duration
	return func() time.Duration { now += 25 * time.Millisecond; return now }
}

// What is compared is measured, and by both programs.
func TestCompared(t *testing.T) {
	for _, name := range compared {
		if !slices.ContainsFunc(floe.Operations, func(op floe.Operation) bool { return op.Name == name }) {
			t.Errorf("%s is no operation", name)
		}
	}
	for _, r := range rows() {
		if !strings.Contains(program, `report("`+r.name+`"`) {
			t.Errorf("the original does not measure %s", r.name)
		}
	}
	for _, op := range floe.Operations {
		if _, ok := bareOf(op); ok != (op.Bare != "") {
			t.Errorf("%s is compared with %q, which is no operation", op.Name, op.Bare)
		}
	}
}

func TestMeasure(t *testing.T) {
	of := floe.Case{Params: core.Params4KiB, Segments: 2, Workers: 1}
	for _, op := range floe.Operations {
		speed, ratio, err := measure(t.Context(), steady(), op, of)
		if err != nil || speed <= 0 || (ratio != "") != (op.Bare != "") {
			t.Errorf("%s: %v, %q, %v", op.Name, speed, ratio, err)
		}
	}
	seal, open, err := small()
	if err != nil || seal() != nil || open() != nil {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	got, err := parse("Seal64 4096 12.5\nSealSegment 1048576 1e6\n")
	if err != nil || len(got) != 2 || got[row{"Seal64", 4096}] != 12.5 || got[row{"SealSegment", 1 << 20}] != 1e6 {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{"x\n", "a b 1\n", "a 1 x\n", "a 1 0\n", "a 1 -1\n", "a 1 1 1\n"} {
		if got, err := parse(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestReport(t *testing.T) {
	ours, theirs := times{}, times{}
	for i, r := range rows() {
		ours[r], theirs[r] = 1000*float64(i+1), 2000*float64(i+1)
	}
	var out strings.Builder
	if err := report(&out, []string{"aws-lc-rs"}, [][]times{{theirs, theirs}}, []times{ours, ours}); err != nil {
		t.Fatal(err)
	}
	if want := "| `SealSegment` | 4096 | 1.00 (1.00 to 1.00) | 0.50 (0.50 to 0.50) |"; !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
		t.Errorf("got\n%s\nwant %s", out.String(), want)
	}
	delete(theirs, row{"ReadRange", 4096})
	if err := report(&out, []string{"aws-lc-rs"}, [][]times{{theirs}}, []times{ours}); err == nil {
		t.Error("a run without a row is compared")
	}
}

func TestNoCargo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := compare(t.Context(), new(strings.Builder), steady()); !errors.Is(err, original.ErrNoCargo) {
		t.Errorf("got %v", err)
	}
}
