package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// Thousands returns q as a whole number with separators, as in "18,412".
func Thousands(q gate.PerOp) string { return separated(strconv.FormatInt(q.Round(), 10)) }

// exactly returns all of q, with separators: "2,913.42".
func exactly(q gate.PerOp) string { return separated(q.String()) }

func separated(s string) string {
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	whole, fraction, dot := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + fraction
	}
	return sign + whole
}

// figures returns two counts as they stand beside an arrow: instructions as
// whole numbers, unless these would hide the change.
func figures(m gate.Metric, was, now gate.PerOp) (string, string) {
	a, b := Thousands(was), Thousands(now)
	if m != gate.Ir || a == b && was != now {
		return exactly(was), exactly(now)
	}
	return a, b
}

// A comparison is one metric of a row against its budget.
type comparison struct {
	gate.Metric
	Budgeted
	now gate.PerOp
}

// compared returns the three metrics of a row in which counts were compared, the
// one that decided first.
func (b *Benchmark) compared() []comparison {
	if b.DeltaPct == nil && b.DecidedBy == nil {
		return nil
	}
	all := []comparison{{gate.Ir, Budgeted{*b.Budget, b.DeltaPct, *b.LimitPct, b.LimitFrom}, *b.IrPerOp}}
	if b.Allocs != nil && b.Bytes != nil {
		all = append(all, comparison{gate.Allocs, *b.Allocs, *b.AllocsPerOp}, comparison{gate.Bytes, *b.Bytes, *b.BytesPerOp})
	}
	if b.DecidedBy != nil {
		for i := int(*b.DecidedBy); i > 0; i-- {
			all[i], all[i-1] = all[i-1], all[i]
		}
	}
	return all
}

// change says by how much, as in "+4.52 %", or "from 0".
func (c comparison) change() string {
	if c.DeltaPct == nil {
		return "from 0"
	}
	return c.DeltaPct.Signed()
}

// unit is that of the counts, as in " allocs/op", where it is not the usual one.
func (c comparison) unit() string {
	if c.Metric == gate.Ir {
		return ""
	}
	return " " + c.Metric.String()
}

// limit says where it fails and who said so: "limit +1 % (default)".
func (c comparison) limit() string {
	return "limit " + gate.Limit{Pct: c.LimitPct, From: c.LimitFrom}.String()
}

// beside says what became of the other metrics, as in
// "allocs/op 3, B/op 128 (unchanged)".
func beside(others []comparison) string {
	var changed, same []string
	for _, c := range others {
		was, now := figures(c.Metric, c.Budget, c.now)
		if c.Budget == c.now {
			same = append(same, c.Metric.String()+" "+now)
		} else {
			changed = append(changed, fmt.Sprintf("%v %s → %s", c.Metric, was, now))
		}
	}
	if len(same) > 0 {
		changed = append(changed, strings.Join(same, ", ")+" (unchanged)")
	}
	return strings.Join(changed, ", ")
}

// label is the name of a row where several packages have some.
func (b *Benchmark) label(several bool) string {
	if several && !b.key().IsPackage() {
		return b.Pkg + " " + b.key().String()
	}
	return b.key().String()
}

// lines splits a text into at most n lines that a terminal can show.
func lines(s string, n int) []string {
	s = strings.Map(visible, strings.TrimSpace(s))
	if s == "" {
		return nil
	}
	all := strings.Split(s, "\n")
	return all[:min(n, len(all))]
}

// visible replaces what would move the cursor or turn the text round.
func visible(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
		return utf8.RuneError
	}
	return r
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shorten cuts the middle out of a long text.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n/2]) + "…" + string(r[len(r)-(n-n/2-1):])
}
