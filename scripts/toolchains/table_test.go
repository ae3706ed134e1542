//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPatches(t *testing.T) {
	got := patches(strings.Fields("go 1.2 1.24.9 1.24.13 1.24.10 1.24rc1 1.240.1 1.25.0"), "1.24")
	if want := []string{"1.24.13", "1.24.10", "1.24.9"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

const said = "perfgate:   0.12 s  go1.26.8: 24 edits of 10 files of its standard library\nperfgate: counted 2 of 2 benchmarks\n"

// TestRead: only a release on which every benchmark has a count is exact.
func TestRead(t *testing.T) {
	const two = `{"toolchain": {"go": "go1.26.8"}, "benchmarks": [{"name": "A", "ir_per_op": 1.5}, {"name": "B", "ir_per_op": 2}]}`
	for _, c := range []struct {
		name, stdout, stderr string
		exact                bool
		equal                int
	}{
		{"equal", two, said, true, 2},
		{"unequal", strings.Replace(two, `2}`, `2, "verdict": "unstable", "reason": "2 and 3"}`, 1), said, false, 1},
		{"no count", strings.Replace(two, `"ir_per_op": 2`, `"x": 2`, 1), said, false, 1},
		{"none", `{"toolchain": {"go": "go1.26.8"}, "benchmarks": []}`, said, false, 0},
		{"no document", "", said, false, 0},
		{"another Go", strings.Replace(two, "go1.26.8", "go1.25.4", 1), said, false, 0},
		{"another Go edited", two, strings.Replace(said, "go1.26.8", "go1.25.4", 1), false, 0},
		{"nothing edited", two, "", false, 0},
	} {
		l := line{release: "go1.26.8"}
		err := l.read(c.stdout, c.stderr)
		if exact := err == nil && l.exact(); exact != c.exact || l.equal != c.equal {
			t.Errorf("%s: got %+v, %v", c.name, l, err)
		}
	}
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	lines := []line{
		{release: "go1.26.8", edits: "24 edits of 10 files", benchmarks: 2, equal: 2},
		{release: "go1.27", faults: []string{"no patch release of it can be fetched"}},
	}
	if err := write(&b, lines); err != nil {
		t.Fatal(err)
	}
	want := `release   standard library      benchmarks  equal
go1.26.8  24 edits of 10 files  2           2
go1.27    -                     0           0
go1.27: no patch release of it can be fetched
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
