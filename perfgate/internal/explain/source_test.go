package explain

import (
	"io/fs"
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
)

const source = `package m

//line other.go:1
func (t *T) Add(n int) {
	func() { t.n += n }()
}

func (p *(pair[K, V])) key() K { return p.k }

func Sum[N ~int](v []N) N { return v[0] }

var literal = func() {}
`

func sourceOf(file string) (string, error) {
	switch file {
	case "m.go":
		return source, nil
	case "x_test.go":
		return "package m_test\n\nfunc BenchmarkX() {}\n", nil
	case "broken.go":
		return "package m\n\nfunc {", nil
	case "f.s":
		return "TEXT ·f(SB)", nil
	}
	return "", fs.ErrNotExist
}

func TestOwners(t *testing.T) {
	known := newOwners(Profile{Source: sourceOf, Package: func(string) string { return "example.com/x/m" }})
	unknown := newOwners(Profile{Source: sourceOf})
	for _, test := range []struct {
		o    owners
		file string
		line int
		want string
	}{
		{known, "m.go", 4, "example.com/x/m.(*T).Add"},
		{known, "m.go", 5, "example.com/x/m.(*T).Add"},
		{known, "m.go", 6, "example.com/x/m.(*T).Add"},
		{known, "m.go", 7, "the.Symbol"},
		{known, "m.go", 8, "example.com/x/m.(*pair).key"},
		{known, "m.go", 10, "example.com/x/m.Sum"},
		{known, "m.go", 12, "the.Symbol"},
		{known, "x_test.go", 3, "example.com/x/m_test.BenchmarkX"},
		{known, "broken.go", 3, "the.Symbol"},
		{known, "gone.go", 3, "the.Symbol"},
		{known, "f.s", 1, "the.Symbol"},
		{unknown, "m.go", 10, "m.Sum"},
		{newOwners(Profile{}), "m.go", 10, "the.Symbol"},
	} {
		if got := test.o.name(count.Line{Function: "the.Symbol", File: test.file, Number: test.line}); got != test.want {
			t.Errorf("%s:%d: got %s, want %s", test.file, test.line, got, test.want)
		}
	}
}

func TestIsOf(t *testing.T) {
	for symbol, want := range map[string]bool{
		"m.Sum":                       true,
		"m.Sum[go.shape.[]string]":    true,
		"m.Sum[go.shape.int].func1.2": true,
		"m.Sum.deferwrap1":            true,
		"m.Sum-fm":                    true,
		"m.Summary":                   false,
		"m.BenchmarkSum":              false,
	} {
		if got := isOf(symbol, "m.Sum"); got != want {
			t.Errorf("%s: got %v, want %v", symbol, got, want)
		}
	}
	if !isOf("a%2eb/x.(*Map[go.shape.string,go.shape.int]).Load.func1", "a.b/x.(*Map).Load") {
		t.Error("a method of a generic type: got false, want true")
	}
}

// TestInlined: an inlined function counts as itself on both sides, wherever the
// compiler put it, and is a frame of its own in pprof's profile.
func TestInlined(t *testing.T) {
	old := profileOf(nil, at{"m.Sum[go.shape.int]", "m.go", 10, 100}, at{"m.BenchmarkX", "x.go", 3, 10})
	new := profileOf(nil, at{"m.BenchmarkX", "m.go", 10, 90}, at{"m.BenchmarkX", "x.go", 3, 10})
	old.Source, new.Source = sourceOf, sourceOf
	check(t, Compare(old, new), "yours m.Sum 10 9 -1", "m.go:10 -1", "other 0 of -1")

	for _, s := range samplesOf(t, new) {
		if s.line == 10 && (s.name != "m.Sum" || s.in != "m.BenchmarkX" || s.ir != 90) {
			t.Errorf("got %v", s)
		}
	}
}
