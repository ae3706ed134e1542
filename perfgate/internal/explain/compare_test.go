package explain

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// at is a line's instructions in 10 iterations.
type at struct {
	function, file string
	line           int
	ir             int64
}

// profileOf makes the profile of a benchmark with k=1. Start-up executes a million
// instructions in runtime.main.
func profileOf(text map[string]string, lines ...at) Profile {
	p := Profile{K: 1, Lo: newCount(), Hi: newCount()}
	add := func(c *count.Count, l at, ir int64) {
		c.Total += ir
		c.Functions[l.function] += ir
		if l.file != "" {
			c.Lines[count.Line{Function: l.function, File: l.file, Number: l.line}] += ir
		}
	}
	for _, l := range append(lines, at{"runtime.main", goroot + "runtime/proc.go", 150, 0}) {
		start := int64(0)
		if l.function == "runtime.main" {
			start = 1_000_000
		}
		add(&p.Lo, l, start+l.ir)
		add(&p.Hi, l, start+2*l.ir)
	}
	p.Source = func(file string) (string, error) {
		if s, ok := text[file]; ok {
			return s, nil
		}
		return "", fs.ErrNotExist
	}
	return p
}

func newCount() count.Count {
	return count.Count{Functions: make(map[string]int64), Lines: make(map[count.Line]int64)}
}

func describe(e *Explanation) []string {
	var all []string
	for _, f := range e.Functions {
		all = append(all, fmt.Sprintf("%s %s %v %v %v", f.Group, f.Name, f.Old, f.New, f.Delta))
		for _, l := range f.Lines {
			mark := ""
			if l.Gone {
				mark = " gone"
			}
			if l.Came {
				mark += " came"
			}
			all = append(all, fmt.Sprintf("%s:%d%s %v", l.File, l.Line, mark, l.Delta))
		}
	}
	return append(all, fmt.Sprintf("other %v of %v", e.Other, e.Delta))
}

func check(t *testing.T, e *Explanation, want ...string) {
	t.Helper()
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
	if got := describe(e); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// TestCompare: a function grew by a line, and the lines after it moved.
func TestCompare(t *testing.T) {
	const runtimeFile = goroot + "runtime/memmove_amd64.s"
	old := profileOf(map[string]string{"m.go": "func Match() {\n\tlook()\n\tdone()\n}\n"},
		at{"example.com/m.Match", "m.go", 2, 210040}, at{"example.com/m.Match", "m.go", 3, 5000},
		at{"runtime.memmove", runtimeFile, 30, 1000}, at{"example.com/m.Small", "m.go", 1, 500})
	new := profileOf(map[string]string{"m.go": "// Match looks twice.\nfunc Match() {\n\tlook()\n\tlookAgain()\n\tdone()\n}\n"},
		at{"example.com/m.Match", "m.go", 3, 210040}, at{"example.com/m.Match", "m.go", 4, 210041}, at{"example.com/m.Match", "m.go", 5, 5000},
		at{"runtime.memmove", runtimeFile, 30, 33440}, at{"example.com/m.Small", "m.go", 2, 507})
	check(t, Compare(old, new),
		"yours example.com/m.Match 21504 42508.1 21004.1",
		"m.go:4 came 21004.1",
		"runtime runtime.memmove 100 3344 3244",
		"other 0.7 of 24248.8")
}

// TestCompareCause: the function that calls another twice is told too, though
// it makes little of the change.
func TestCompareCause(t *testing.T) {
	old := profileOf(map[string]string{"m.go": "Match\n\tlook\nend\nlook\n\tloop"}, at{"m.com/m.Match", "m.go", 2, 50}, at{"m.com/m.look", "m.go", 5, 80_000}, at{"m.com/m.same", "m.go", 4, 50})
	new := profileOf(map[string]string{"m.go": "Match\n\tlook\n\tlook again\nend\nlook\n\tloop"}, at{"m.com/m.Match", "m.go", 2, 50}, at{"m.com/m.Match", "m.go", 3, 150}, at{"m.com/m.look", "m.go", 6, 160_000}, at{"m.com/m.same", "m.go", 5, 60})
	check(t, Compare(old, new),
		"yours m.com/m.look 8000 16000 8000", "m.go:6 8000",
		"yours m.com/m.Match 5 20 15", "m.go:3 came 15",
		"other 1 of 8016")
}

// TestCompareOpposite: what grew and what shrank are both listed, although they
// almost cancel, and so is what happens to leave nothing over.
func TestCompareOpposite(t *testing.T) {
	old := profileOf(nil, at{"a.com/m.Old", "", 0, 100_000}, at{"a.com/m.F", "", 0, 10})
	new := profileOf(nil, at{"a.com/m.New", "", 0, 100_100}, at{"a.com/m.F", "", 0, 12})
	check(t, Compare(old, new),
		"yours a.com/m.New 0 10010 10010",
		"yours a.com/m.Old 10000 0 -10000",
		"other 0.2 of 10.2")

	old = profileOf(nil, at{"a.com/m.F", "", 0, 100}, at{"a.com/m.G", "", 0, 70}, at{"a.com/m.H", "", 0, 70})
	new = profileOf(nil, at{"a.com/m.F", "", 0, 200}, at{"a.com/m.G", "", 0, 150}, at{"a.com/m.H", "", 0, -10})
	check(t, Compare(old, new),
		"yours a.com/m.F 10 20 10",
		"yours a.com/m.G 7 15 8",
		"yours a.com/m.H 7 -1 -8",
		"other 0 of 10")
}

// TestCompareEqual: no change has no functions, and opposite ones of the same
// size are told.
func TestCompareEqual(t *testing.T) {
	p := profileOf(nil, at{"a.com/m.F", "", 0, 100})
	check(t, Compare(p, p), "other 0 of 0")
	check(t, Compare(p, profileOf(nil, at{"a.com/m.G", "", 0, 100})),
		"yours a.com/m.F 10 0 -10", "yours a.com/m.G 0 10 10", "other 0 of 0")
}

// TestCompareGone: lines of the old side that are no more have its numbers, and
// say so.
func TestCompareGone(t *testing.T) {
	old := profileOf(map[string]string{"m.go": "a\nb\nc", "gone.go": "x"}, at{"m.com/m.F", "m.go", 2, 300}, at{"m.com/m.F", "m.go", 3, 700}, at{"m.com/m.G", "gone.go", 1, 500})
	new := profileOf(map[string]string{"m.go": "a\nc"}, at{"m.com/m.F", "m.go", 2, 700})
	check(t, Compare(old, new),
		"yours m.com/m.G 50 0 -50", "gone.go:1 gone -50",
		"yours m.com/m.F 100 70 -30", "m.go:2 gone -30",
		"other 0 of -80")
}

// TestOf: of one side, its functions and lines.
func TestOf(t *testing.T) {
	e := Of(profileOf(nil, at{"m.com/m.F", "m.go", 2, 300}, at{"m.com/m.F", "m.go", 3, 1}, at{"testing.(*B).Loop", goroot + "testing/benchmark.go", 9, 12}))
	check(t, e, "yours m.com/m.F 0 30.1 30.1", "m.go:2 30", "other 1.2 of 31.3")
	if e.Old != 0 || e.New != 31_3000 {
		t.Errorf("got %v to %v, want 0 to 31.3", e.Old, e.New)
	}
}

// TestCompareSums: whatever changes, the parts add up and Other is small.
func TestCompareSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		side := func() Profile {
			var lines []at
			for i := range 40 {
				if r.IntN(3) > 0 {
					lines = append(lines, at{fmt.Sprint("m.com/m.F", i), "m.go", i, r.Int64N(1 << r.IntN(30))})
				}
			}
			return profileOf(nil, lines...)
		}
		old, new := side(), side()
		e := Compare(old, new)
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		if e.Delta != new.IrPerOp()-old.IrPerOp() {
			t.Fatalf("got %v, want the change of the totals", e.Delta)
		}
		if e.Other != 0 && size(e.Other)*20 >= size(e.Delta) {
			t.Fatalf("other is %v of %v", e.Other, e.Delta)
		}
	}
}

func TestValidate(t *testing.T) {
	good := func() *Explanation {
		return &Explanation{Old: 5, New: 9, Delta: 4, Other: 1, Functions: []Function{{Name: "f", Old: 1, New: 4, Delta: 3}}}
	}
	if err := good().Validate(); err != nil {
		t.Error(err)
	}
	if err := (&Explanation{Missing: "why"}).Validate(); err != nil {
		t.Error(err)
	}
	for i, break1 := range []func(*Explanation){
		func(e *Explanation) { *e = Explanation{} },
		func(e *Explanation) { e.Other++ },
		func(e *Explanation) { e.New++ },
		func(e *Explanation) { e.Functions[0].Old++ },
		func(e *Explanation) { e.Delta = gate.Slope(1, 0) },
	} {
		e := good()
		if break1(e); e.Validate() == nil {
			t.Errorf("%d: got no error", i)
		}
	}
}
