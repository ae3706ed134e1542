package report

import (
	"strings"
	"testing"

	"github.com/cachekit-go/cachekit/perfgate/internal/explain"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// ir makes a quantity of ten-thousandths.
func ir(whole, tenThousandths int64) gate.PerOp { return gate.PerOp(whole*10_000 + tenThousandths) }

func written(e *explain.Explanation) string {
	var b strings.Builder
	WriteExplanation(&b, e, "  ")
	return b.String()
}

// TestWriteExplanation: whole numbers, and those that are shown add up: the row's
// is 735,120 → 768,334.
func TestWriteExplanation(t *testing.T) {
	e := &explain.Explanation{
		Source: `base 3f2c1a9 "look twice"`,
		Old:    ir(735_120, 0), New: ir(768_334, 4000), Delta: ir(33_214, 4000), Other: ir(0, -2000),
		Functions: []explain.Function{
			{Group: explain.Yours, Name: "example.com/m/core.(*encoder).match", Old: ir(60_000, 0), New: ir(89_870, 3000), Delta: ir(29_870, 3000), Lines: []explain.Line{
				{File: "core/encode.go", Line: 118, Came: true, New: ir(21_004, 0), Delta: ir(21_004, 0)},
				{File: "core/encode.go", Line: 9, Gone: true, Old: ir(8, 0), Delta: ir(-8, 0)},
			}},
			{Group: explain.Yours, Name: "example.com/m/core.Max[go.shape.struct { a/b.T }]", Old: ir(10, 4000), Delta: ir(-10, -4000)},
			{Group: explain.Runtime, Name: "runtime.memmove", Old: ir(1000, 3000), New: ir(4355, 0), Delta: ir(3354, 7000)},
		},
	}
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	want := `
  yours    core.(*encoder).match  60,000 → 89,870  +29,870  core/encode.go:118 (new)  +21,004
                                                            core/encode.go:9 (gone)        -8
           core.Max[...]                   10 → 0      -10
  runtime  runtime.memmove          1,000 → 4,355   +3,355
  other                                                 -1
  base 3f2c1a9 "look twice"
`
	if got := "\n" + written(e); got != want {
		t.Errorf("got%swant%s", got, want)
	}
}

// TestWriteExplanationSmall: a small change is shown to the last decimal.
func TestWriteExplanationSmall(t *testing.T) {
	e := &explain.Explanation{Old: ir(1000, 0), New: ir(1000, 5000), Delta: ir(0, 5000), Functions: []explain.Function{
		{Group: explain.Yours, Name: "m.F", Old: ir(999, 0), New: ir(999, 5000), Delta: ir(0, 5000)},
	}}
	if got, want := written(e), "  yours  m.F  999 → 999.5  +0.5\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWriteExplanationAlone: one side has shares.
func TestWriteExplanationAlone(t *testing.T) {
	e := &explain.Explanation{Missing: "the budget is not committed", New: ir(2000, 0), Delta: ir(2000, 0), Other: ir(50, 0), Functions: []explain.Function{
		{Group: explain.Yours, Name: "m.F", New: ir(1950, 0), Delta: ir(1950, 0), Lines: []explain.Line{{File: "m.go", Line: 7, New: ir(1500, 0), Delta: ir(1500, 0)}}},
	}}
	want := `
  yours  m.F  1,950  97.5 %  m.go:7  1,500
  other          50   2.5 %
  the budget is not committed
`
	if got := "\n" + written(e); got != want {
		t.Errorf("got%swant%s", got, want)
	}
	if got, want := written(&explain.Explanation{Missing: "why"}), "  why\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"example.com/m.F":                       "m.F",
		"example.com/m/v2.(*T).F":               "m/v2.(*T).F",
		"v2.F":                                  "v2.F",
		"gopkg.in/yaml.v3.F":                    "yaml.v3.F",
		"main.main":                             "main.main",
		"memeqbody":                             "memeqbody",
		"a/b.Max[go.shape.[]c/d.E].func1":       "b.Max[...].func1",
		"a/b.(*Map[go.shape.int,[2]int]).Load":  "b.(*Map[...]).Load",
		"a/b.F[c":                               "b.F[c",
		"a/b.init.OnceValue[go.shape.int].func": "b.init.OnceValue[...].func",
	} {
		if got := ShortName(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
