package gate

import (
	"strings"
	"testing"
)

func TestFileLine(t *testing.T) {
	one := Target{GOOS: "linux", GOARCH: "amd64", CGO: "0"}
	two := Target{GOOS: "linux", GOARCH: "arm64", CGO: "0"}
	row := func(ir int64) Budget { return Budget{Ir: Slope(ir, 0), K: 1} }
	f := &File{Sets: []Set{
		{Target: two, Rows: map[Key]Budget{{"m", "A"}: row(31)}},
		{Target: one.withCGO(true), Rows: map[Key]Budget{{"m/c", "A"}: row(21)}},
		{Target: one, Rows: map[Key]Budget{{"m", "A"}: row(11), {"m", "B"}: row(12), {"n", "A"}: row(13)}},
	}}
	lines := strings.Split(string(f.Format()), "\n")
	for _, test := range []struct {
		t    Target
		k    Key
		want string
	}{
		{one, Key{"m", "A"}, `"A": {"ir": 11,`},
		{one, Key{"m", "B"}, `"B": {"ir": 12,`},
		{one, Key{"n", "A"}, `"A": {"ir": 13,`},
		{one, Key{"m/c", "A"}, `"A": {"ir": 21,`},
		{two, Key{"m", "A"}, `"A": {"ir": 31,`},
	} {
		if n := f.Line(test.t, test.k); n < 1 || !strings.HasPrefix(strings.TrimSpace(lines[n-1]), test.want) {
			t.Errorf("%v %v: got line %d, want that of %s", test.t, test.k, n, test.want)
		}
	}
	if n := f.Line(two, Key{"m", "B"}); n != 0 {
		t.Errorf("no such budget: got line %d", n)
	}
}
