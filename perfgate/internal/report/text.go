package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cachekit-go/cachekit/perfgate/internal/explain"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

const (
	maxRows   = 40  // with more, rows that are ok are counted instead of shown
	maxNew    = 200 // with more, of rows that nothing is known of only some are shown
	maxPkgs   = 20  // packages that are named when rows are counted
	maxReason = 10  // lines of a reason
	manyAlike = 10  // more rows that are incomparable for one reason are one row
)

// TextOptions of [Document.WriteText].
type TextOptions struct {
	All   bool // show every row, however many
	Color bool
}

// WriteText writes d for people: what is as it should be, then the rows that
// need attention, the worst last, then the verdict.
func (d *Document) WriteText(w io.Writer, o TextOptions) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s/%s  %s  %s %s%s\n", d.Target.GOOS, d.Target.GOARCH, d.Toolchain.Go, d.Target.Method, d.Toolchain.Valgrind, d.counts())
	several := d.severalPackages()
	plain, remarkable := d.split(o.All)
	shown := len(plain) > 0
	var left, others []Benchmark
	if !o.All {
		if len(plain) > maxNew {
			plain, left = plain[:maxRows], plain[maxRows:]
		}
		remarkable = alike(remarkable)
		if n := len(remarkable) - maxRows; n > 0 {
			slices.SortStableFunc(remarkable, worse)
			others, remarkable = remarkable[:n], remarkable[n:] // the worst are last
		}
	}
	writeTable(b, plain, several)
	writeLeft(b, left, several)
	if shown && len(remarkable) > 0 {
		fmt.Fprintln(b)
	}
	writeOthers(b, others)
	writeRemarkable(b, remarkable, several, o.Color)
	if n := d.count()[gate.OK]; n > 0 {
		fmt.Fprintf(b, "%s  %d  unchanged to the instruction: %d\n", paint("ok", gate.OK, o.Color), n, d.unchanged())
	}
	if len(d.Same) > 0 {
		fmt.Fprintf(b, "not measured, with the test binary of %s: %s\n", d.Base, strings.Join(d.Same, ", "))
	}
	if len(d.Run.Cached) > 0 {
		fmt.Fprintf(b, "(cached)  unchanged since they were measured, -fresh measures: %s\n", strings.Join(d.Run.Cached, ", "))
	}
	if d.OutOfScope > 0 {
		fmt.Fprintf(b, "out of scope: %s not looked at\n", plural(d.OutOfScope, "budget"))
	}
	for _, n := range d.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
	writeChanges(b, d.Changes, o.All)
	summary := d.Summary
	if word, rest, ok := strings.Cut(summary, ":"); ok && word == "pass" {
		summary = paint(word, gate.OK, o.Color) + ":" + rest
	} else if ok && word == "fail" {
		summary = paint(word, gate.Regressed, o.Color) + ":" + rest
	}
	fmt.Fprintf(b, "%s  %.1f s\n", summary, d.Run.Seconds)
	return b.Flush()
}

// split returns the rows that a table shows, and those that need more words.
func (d *Document) split(all bool) (plain, remarkable []Benchmark) {
	few := all || len(d.Benchmarks) <= maxRows
	for _, r := range slices.SortedStableFunc(slices.Values(d.Benchmarks), naturally) {
		switch {
		case r.Verdict == nil, r.verdict() == gate.New && r.IrPerOp != nil:
			plain = append(plain, r)
		case r.verdict() != gate.OK:
			remarkable = append(remarkable, r)
		case few:
			plain = append(plain, r)
		}
	}
	slices.SortStableFunc(remarkable, func(a, b Benchmark) int { return cmp.Compare(b.verdict(), a.verdict()) })
	return plain, remarkable
}

// worse orders rows so that the worst are last: by verdict, then by change.
func worse(a, b Benchmark) int {
	change := func(r Benchmark) gate.Percent {
		if r.DeltaPct == nil {
			return 0
		}
		return *r.DeltaPct
	}
	return cmp.Or(cmp.Compare(b.verdict(), a.verdict()), cmp.Compare(change(a), change(b)))
}

// alike makes one row of many that are incomparable for the same reason.
func alike(rows []Benchmark) []Benchmark {
	n := make(map[string]int)
	for _, r := range rows {
		if r.verdict() == gate.Incomparable && r.compared() == nil {
			n[r.Reason]++
		}
	}
	var out []Benchmark
	for _, r := range rows {
		switch many := n[r.Reason]; {
		case r.verdict() != gate.Incomparable || r.compared() != nil || many <= manyAlike && many > 0:
			out = append(out, r)
		case many > 0:
			out = append(out, Benchmark{Name: plural(many, "benchmark"), Verdict: r.Verdict, Reason: r.Reason})
			n[r.Reason] = -1
		}
	}
	return out
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

// writeLeft tells of rows that the table has no room for: how many, and where.
func writeLeft(w io.Writer, rows []Benchmark, several bool) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "... and %s more (-v shows all)\n", plural(len(rows), "benchmark"))
	if !several {
		return
	}
	var pkgs []string
	n := make(map[string]int)
	for _, r := range rows {
		if n[r.Pkg]++; n[r.Pkg] == 1 {
			pkgs = append(pkgs, r.Pkg)
		}
	}
	cells := make([][]string, 0, maxPkgs+1)
	for _, pkg := range pkgs[:min(maxPkgs, len(pkgs))] {
		cells = append(cells, []string{"    " + strconv.Itoa(n[pkg]), pkg})
	}
	if more := len(pkgs) - maxPkgs; more > 0 {
		cells = append(cells, []string{"", "and in " + plural(more, "package") + " more"})
	}
	writeCells(w, cells, "rl")
}

// writeOthers tells of rows that are remarkable, but less so than those that
// are shown.
func writeOthers(w io.Writer, rows []Benchmark) {
	for i := 0; i < len(rows); {
		j := i
		for j < len(rows) && rows[j].verdict() == rows[i].verdict() {
			j++
		}
		fmt.Fprintf(w, "%v  %s more (-v shows all)\n", rows[i].verdict(), plural(j-i, "benchmark"))
		i = j
	}
}

// writeRemarkable writes rows that are not ok: what, how much, why.
func writeRemarkable(w io.Writer, rows []Benchmark, several, color bool) {
	first := make([][]string, len(rows))
	verdict, name := 0, 0
	wasWidth, nowWidth := 0, 0
	for _, r := range rows {
		verdict = max(verdict, len(r.verdict().String()))
		name = max(name, utf8.RuneCountInString(r.label(several)))
		for _, c := range r.compared()[:min(1, len(r.compared()))] {
			was, now := figures(c.Metric, c.Budget, c.now)
			wasWidth, nowWidth = max(wasWidth, len(was)), max(nowWidth, len(now))
		}
	}
	name = min(name, 60)
	more := make([][]string, len(rows))
	for i, r := range rows {
		first[i] = []string{r.verdict().String(), pad(r.label(several), name)}
		reason := append(lines(r.Reason, maxReason), r.Notes...)
		if all := r.compared(); all != nil {
			was, now := figures(all[0].Metric, all[0].Budget, all[0].now)
			first[i] = append(first[i], fmt.Sprintf("%*s → %*s%s", wasWidth, was, nowWidth, now, all[0].unit()), all[0].change(), all[0].limit(), beside(all[1:]))
		} else if len(reason) > 0 {
			first[i], reason = append(first[i], reason[0]), reason[1:]
		}
		more[i] = append(reason, explained(r.Explanation)...)
	}
	indent := strings.Repeat(" ", verdict+2)
	for i, line := range aligned(first, "lllrll") {
		word := first[i][0]
		fmt.Fprintln(w, paint(word, rows[i].verdict(), color)+strings.TrimPrefix(line, word))
		for _, l := range more[i] {
			if first[i][len(first[i])-1] != "" && rows[i].compared() == nil {
				l = strings.Repeat(" ", name+2) + l // below the reason's first line
			}
			fmt.Fprintln(w, indent+l)
		}
	}
}

// explained returns the lines of an explanation.
func explained(e *explain.Explanation) []string {
	if e == nil {
		return nil
	}
	var b strings.Builder
	WriteExplanation(&b, e, "")
	return lines(b.String(), math.MaxInt)
}

// writeChanges writes what became of budgets.
func writeChanges(w io.Writer, changes []Change, all bool) {
	if len(changes) == 0 {
		return
	}
	fmt.Fprintf(w, "budgets: %d changed\n", len(changes))
	left := 0
	if !all && len(changes) > maxRows {
		changes, left = changes[:maxRows], len(changes)-maxRows
	}
	var cells [][]string
	for _, c := range changes {
		cells = append(cells, []string{"  " + gate.Key{Pkg: c.Pkg, Name: c.Name}.String(), c.was() + " → " + c.now(), strings.Join(lines(c.Reason, 1), "")})
	}
	writeCells(w, cells, "lll")
	if left > 0 {
		fmt.Fprintf(w, "  ... and %s more (-v shows all)\n", strconv.Itoa(left))
	}
}

func (c *Change) was() string { return c.side(c.Old, c.New) }
func (c *Change) now() string { return c.side(c.New, c.Old) }

// side says what one of two budgets is, with what differs from the other beside
// the instructions.
func (c *Change) side(b, other *gate.Budget) string {
	if b == nil {
		return "none"
	}
	s := exactly(b.Ir)
	if other == nil {
		return s
	}
	for _, m := range gate.Metrics() {
		if m != gate.Ir && b.Of(m) != other.Of(m) {
			s += fmt.Sprintf(", %s %v", exactly(b.Of(m)), m)
		}
	}
	for _, m := range gate.Metrics() {
		switch {
		case b.Own(m) == other.Own(m):
		case b.Own(m) == 0:
			s += fmt.Sprintf(", %v default limit", m)
		default:
			s += fmt.Sprintf(", %v limit +%v %%", m, b.Own(m))
		}
	}
	if b.K != other.K {
		s += fmt.Sprintf(", k=%d", b.K)
	}
	return s
}

// writeCells writes aligned columns.
func writeCells(w io.Writer, rows [][]string, align string) {
	for _, line := range aligned(rows, align) {
		fmt.Fprintln(w, line)
	}
}

// aligned pads columns, two spaces apart. A row's last cell takes no part in the
// width, so that long texts do not spread a column.
func aligned(rows [][]string, align string) []string {
	width := make([]int, len(align))
	for _, r := range rows {
		for i, c := range r {
			if i < len(r)-1 || align[i] == 'r' {
				width[i] = max(width[i], utf8.RuneCountInString(c))
			}
		}
	}
	var out []string
	for _, r := range rows {
		var line strings.Builder
		for i, c := range r {
			if i > 0 {
				line.WriteString("  ")
			}
			if align[i] == 'r' {
				line.WriteString(strings.Repeat(" ", max(0, width[i]-utf8.RuneCountInString(c))) + c)
			} else {
				line.WriteString(pad(c, width[i]))
			}
		}
		out = append(out, strings.TrimRight(line.String(), " "))
	}
	return out
}

// pad fills s up with spaces to n characters.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

// paint colours a word as its verdict: red for what fails, yellow for what is to
// be looked at, green for the rest.
func paint(word string, v gate.Verdict, color bool) string {
	if !color {
		return word
	}
	code := "31"
	switch v {
	case gate.OK, gate.Improved:
		code = "32"
	case gate.Warned, gate.New, gate.Incomparable:
		code = "33"
	}
	return "\x1b[" + code + "m" + word + "\x1b[0m"
}
