package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/explain"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// WriteExplanation writes e as a table, each line after indent: a function of a
// group per row, and beside it the source lines that make the most of it. Of a
// change it shows old → new and the difference, of one side the instructions and
// their share.
//
// Numbers are whole, and those shown add up: what rounding adds or takes is in
// the row "other". A change under 100 Ir/op is shown to the last decimal.
func WriteExplanation(w io.Writer, e *explain.Explanation, indent string) {
	var b strings.Builder
	if e.Explained() {
		writeCells(&b, explanationRows(e), "llrrlr")
	}
	for _, note := range []string{e.Source, e.Missing} {
		if note != "" {
			fmt.Fprintln(&b, note)
		}
	}
	for line := range strings.Lines(b.String()) {
		io.WriteString(w, indent+line)
	}
}

func explanationRows(e *explain.Explanation) [][]string {
	n := numbers{alone: e.Old == 0, exact: max(e.Delta, -e.Delta) < gate.Slope(100, 0), whole: e.New}
	var rows [][]string
	group := explain.Group("")
	other := n.round(e.New) - n.round(e.Old)
	for _, f := range e.Functions {
		other -= n.round(f.New) - n.round(f.Old)
		amount, difference := n.cells(f.Old, f.New)
		row := []string{string(f.Group), ShortName(f.Name), amount, difference}
		if f.Group == group {
			row[0] = ""
		}
		group = f.Group
		for i, l := range f.Lines {
			if i > 0 {
				row = []string{"", "", "", ""}
			}
			place := fmt.Sprintf("%s:%d", l.File, l.Line)
			switch {
			case l.Gone:
				place += " (gone)"
			case l.Came:
				place += " (new)"
			}
			amount, difference := n.cells(l.Old, l.New)
			if !n.alone {
				amount = difference
			}
			rows = append(rows, append(row, place, amount))
		}
		if len(f.Lines) == 0 {
			rows = append(rows, row)
		}
	}
	switch {
	case other == 0:
	case n.alone:
		amount, share := n.cells(0, other)
		rows = append(rows, []string{"other", "", amount, share})
	default:
		rows = append(rows, []string{"other", "", "", n.signed(other)})
	}
	return rows
}

// numbers writes the quantities of one explanation.
type numbers struct {
	alone bool // there is one side
	exact bool // to the last decimal
	whole gate.PerOp
}

// round returns q as it is shown.
func (n numbers) round(q gate.PerOp) gate.PerOp {
	if n.exact {
		return q
	}
	return gate.Slope(q.Round(), 0)
}

// cells returns "old → new" and the difference or, of one side, the amount and
// its share.
func (n numbers) cells(old, new gate.PerOp) (amount, difference string) {
	old, new = n.round(old), n.round(new)
	if n.alone {
		tenths := (int64(new)*2000/int64(n.whole) + 1) / 2
		return n.unsigned(new), fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
	}
	return n.unsigned(old) + " → " + n.unsigned(new), n.signed(new - old)
}

func (n numbers) unsigned(q gate.PerOp) string {
	s := Thousands(q)
	if n.exact {
		s = q.String()
	}
	return s
}

func (n numbers) signed(q gate.PerOp) string {
	if q > 0 {
		return "+" + n.unsigned(q)
	}
	return n.unsigned(q)
}

var majorVersion = regexp.MustCompile(`^v[0-9]+\.`)

// ShortName returns a function's name as Go programs spell it: with the last
// element of its import path, and without type arguments.
func ShortName(name string) string {
	path, args, generic := strings.Cut(name, "[")
	dir := strings.LastIndex(path, "/")
	if dir >= 0 && majorVersion.MatchString(path[dir+1:]) {
		dir = strings.LastIndex(path[:dir], "/")
	}
	short := path[dir+1:]
	if !generic {
		return short
	}
	depth := 1
	for i := range len(args) {
		switch args[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			return short + "[...]" + ShortName(args[i+1:])
		}
	}
	return short + "[" + args
}
