package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// maxRows is how many unremarkable rows a table shows before it only counts
// them.
const maxRows = 40

// TextOptions of [Document.WriteText].
type TextOptions struct {
	All     bool   // show every row, however many
	Verdict string // last line: "pass" or "fail" with what decided; "" in a run
}

// WriteText writes d for people: one table, then the rows that need attention,
// then the verdict.
func (d *Document) WriteText(w io.Writer, o TextOptions) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s/%s  %s  %s %s\n", d.Target.GOOS, d.Target.GOARCH, d.Toolchain.Go, d.Target.Method, d.Toolchain.Valgrind)
	var plain, remarkable []Benchmark
	for _, r := range slices.SortedStableFunc(slices.Values(d.Benchmarks), naturally) {
		if r.Verdict == nil || *r.Verdict == gate.OK || *r.Verdict == gate.New && r.IrPerOp != nil {
			plain = append(plain, r)
		} else {
			remarkable = append(remarkable, r)
		}
	}
	if len(plain) > maxRows && !o.All {
		fmt.Fprintf(b, "%s not shown (-v shows all)\n", plural(len(plain), "row"))
	} else {
		writeTable(b, plain, d.severalPackages())
	}
	if len(plain) > 0 && len(remarkable) > 0 {
		fmt.Fprintln(b)
	}
	writeRemarkable(b, remarkable, d.severalPackages())
	if d.OutOfScope > 0 {
		fmt.Fprintf(b, "out of scope: %s not looked at\n", plural(d.OutOfScope, "budget"))
	}
	for _, n := range d.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
	if o.Verdict == "" {
		o.Verdict = plural(len(d.Run.Totals), "benchmark") + " measured"
	}
	fmt.Fprintf(b, "%s  %.1f s\n", o.Verdict, d.Run.Seconds)
	return b.Flush()
}

// naturally orders rows as people do: size=64 before size=1024.
func naturally(a, b Benchmark) int {
	if c := strings.Compare(a.Pkg, b.Pkg); c != 0 {
		return c
	}
	x, y := a.Name, b.Name
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m > 0 && n > 0 && m != n && x[0] != '0' && y[0] != '0' {
			return m - n
		}
		if x[0] != y[0] {
			return int(x[0]) - int(y[0])
		}
		x, y = x[1:], y[1:]
	}
	return len(x) - len(y)
}

// digits returns how many digits s begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// severalPackages reports whether names need their packages.
func (d *Document) severalPackages() bool {
	n := len(d.Benchmarks)
	return n > 0 && d.Benchmarks[0].Pkg != d.Benchmarks[n-1].Pkg
}

func writeTable(w io.Writer, rows []Benchmark, several bool) {
	var cells [][]string
	pkg := ""
	for _, r := range rows {
		if several && r.Pkg != pkg {
			pkg = r.Pkg
			cells = append(cells, []string{pkg})
		}
		line := []string{r.key().String(), Thousands(*r.IrPerOp), Thousands(*r.AllocsPerOp), Thousands(*r.BytesPerOp), strconv.Itoa(*r.K)}
		if r.Verdict != nil {
			verdict := r.Verdict.String()
			if r.DeltaPct != nil && *r.DeltaPct != 0 {
				verdict += "  " + r.DeltaPct.Signed()
			}
			line = append(line, verdict)
		}
		cells = append(cells, line)
	}
	if len(cells) > 0 {
		cells = slices.Insert(cells, 0, []string{"", "Ir/op", "allocs/op", "B/op", "k"})
	}
	writeCells(w, cells, "lrrrrl")
}

// writeRemarkable writes rows that are not ok: what, how much, why.
func writeRemarkable(w io.Writer, rows []Benchmark, several bool) {
	var cells [][]string
	for _, r := range rows {
		name := r.key().String()
		if several && !r.key().IsPackage() {
			name = r.Pkg + " " + name
		}
		line := []string{r.Verdict.String(), name}
		if r.Budget != nil && r.DeltaPct != nil {
			line = append(line, Thousands(*r.Budget)+" → "+Thousands(*r.IrPerOp), r.DeltaPct.Signed(), "limit +"+r.LimitPct.String()+" %")
		}
		if r.Reason == "" {
			cells = append(cells, line)
			continue
		}
		reason := strings.Split(strings.TrimSpace(r.Reason), "\n")
		if len(line) == 2 {
			cells = append(cells, append(line, reason[0]))
		} else {
			cells = append(cells, line, []string{"", "", reason[0]})
		}
		for _, more := range reason[1:min(len(reason), 10)] {
			cells = append(cells, []string{"", "", more})
		}
	}
	writeCells(w, cells, "lllrl")
}

// writeCells aligns columns, two spaces apart. A row's last cell takes no part
// in the width, so that long texts do not spread a column.
func writeCells(w io.Writer, rows [][]string, align string) {
	width := make([]int, len(align))
	for _, r := range rows {
		for i, c := range r {
			if i < len(r)-1 || align[i] == 'r' {
				width[i] = max(width[i], utf8.RuneCountInString(c))
			}
		}
	}
	for _, r := range rows {
		var line strings.Builder
		for i, c := range r {
			pad := strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(c)))
			if i > 0 {
				line.WriteString("  ")
			}
			if align[i] == 'r' {
				line.WriteString(pad + c)
			} else {
				line.WriteString(c + pad)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// Thousands returns q as a whole number with separators, as in "18,412".
func Thousands(q gate.PerOp) string {
	s := strconv.FormatInt(q.Round(), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Summary says in one line what a judgement comes to, for the last line of the
// text: the verdict word, and the counts that decided it. update is the command
// that lowers budgets.
func Summary(rows []gate.Row, exit int, update string) string {
	n := make(map[gate.Verdict]int)
	var worst []string
	for _, r := range rows {
		n[r.Verdict]++
		if r.Verdict == gate.Regressed {
			worst = append(worst, r.Name+" "+change(r.Deciding()))
		}
	}
	if exit == gate.ExitOK {
		s := fmt.Sprintf("pass: %s within budget", plural(len(rows)-n[gate.New], "benchmark"))
		if n[gate.Improved] > 0 {
			s += fmt.Sprintf(", %s can be lowered: %s", plural(n[gate.Improved], "budget"), update)
		}
		if n[gate.Warned] > 0 {
			s += fmt.Sprintf(", %d near the limit", n[gate.Warned])
		}
		if n[gate.New] > 0 {
			s += fmt.Sprintf(", %d new", n[gate.New])
		}
		return s
	}
	if len(rows) == 0 {
		return "fail: nothing was judged"
	}
	var parts []string
	for v := gate.Verdict(0); v <= gate.Improved; v++ {
		if n[v] > 0 && v != gate.Warned {
			parts = append(parts, fmt.Sprintf("%d %v", n[v], v))
		}
	}
	s := fmt.Sprintf("fail: of %s %s", plural(len(rows), "benchmark"), strings.Join(parts, ", "))
	if len(worst) > 0 {
		s += " (" + strings.Join(worst[:min(3, len(worst))], ", ")
		if len(worst) > 3 {
			s += ", ..."
		}
		s += ")"
	}
	return s
}

// change says how much a metric changed, and which one if it is not Ir.
func change(c gate.Comparison) string {
	s := Thousands(c.Was) + " → " + Thousands(c.Now)
	if delta, ok := c.Delta(); ok {
		s = delta.Signed()
	}
	if c.Metric != gate.Ir {
		s = c.Metric.String() + " " + s
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
