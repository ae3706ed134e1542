package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// MaxMarkdown is how many bytes, and so characters, [Document.WriteMarkdown]
// writes at most. A comment on GitHub may have 65,536 characters.
const MaxMarkdown = 60_000

// What each part may have at most. The functions have what is left.
const (
	maxTable   = 28_000
	maxChanges = 14_000
	maxNotes   = 3_000
)

// WriteMarkdown writes d for a pull request: the verdict in one line, a table of
// what changed, the functions behind it in a fold, the rest as a count, and what
// becomes of the budgets. It never writes more than [MaxMarkdown] bytes: rows
// that find no room are counted.
//
// Whatever comes from outside, names, reasons and paths, stands escaped in code
// elements, so that it can neither break a table nor mention anybody.
func (d *Document) WriteMarkdown(w io.Writer) error {
	head := "**" + escape(shorten(d.Summary, 500)) + "**\n"
	rows := d.changed()
	table := d.markdownRows(rows)
	tail := d.markdownRest()
	changes := markdownChanges(d.Changes)
	fold := markdownFold(rows, d.severalPackages(), MaxMarkdown-len(head)-len(table)-len(tail)-len(changes))
	_, err := io.WriteString(w, head+table+fold+tail+changes)
	return err
}

// changed returns the rows that are not ok, the worst first; of a run, all.
func (d *Document) changed() []Benchmark {
	plain, rows := d.split(true)
	slices.SortStableFunc(rows, func(a, b Benchmark) int { return cmp.Compare(a.verdict(), b.verdict()) })
	rows = alike(rows)
	for _, r := range plain {
		if r.verdict() != gate.OK {
			rows = append(rows, r)
		}
	}
	return rows
}

func (d *Document) markdownRows(rows []Benchmark) string {
	if len(rows) == 0 {
		return ""
	}
	p := newPart(maxTable, "row")
	p.b.WriteString("\n| verdict | benchmark | was | now | change | |\n|:--|:--|--:|--:|--:|:--|\n")
	several := d.severalPackages()
	for i := range rows {
		p.add(rows[i].markdown(several))
	}
	return p.end()
}

func (b *Benchmark) markdown(several bool) string {
	var was, now, change string
	var words []string
	switch all := b.compared(); {
	case all != nil:
		was, now = figures(all[0].Metric, all[0].Budget, all[0].now)
		was, now, change = was+all[0].unit(), now+all[0].unit(), all[0].change()
		words = append(words, escape(shorten(all[0].limit(), 300)))
		if b.verdict() == gate.Regressed {
			words = append(words, escape(beside(all[1:])))
		}
	case b.IrPerOp != nil:
		now = Thousands(*b.IrPerOp)
		words = append(words, fmt.Sprintf("allocs/op %s, B/op %s", exactly(*b.AllocsPerOp), exactly(*b.BytesPerOp)))
	}
	for _, l := range append(lines(b.Reason, 1), b.Notes...) {
		words = append(words, code(shorten(l, 300)))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", b.markdownVerdict(), code(shorten(b.label(several), 200)), was, now, escape(change), strings.Join(words, "<br>"))
}

// markdownVerdict is the word, bold where it is no good news.
func (b *Benchmark) markdownVerdict() string {
	switch v := b.verdict(); {
	case b.Verdict == nil:
		return ""
	case v < gate.New:
		return "**" + v.String() + "**"
	default:
		return v.String()
	}
}

// markdownFold is the fold with what is behind the rows: functions and lines,
// and reasons of more than one line.
func markdownFold(rows []Benchmark, several bool, room int) string {
	const open, shut = "\n<details><summary>Where it comes from</summary>\n\n<pre>\n", "</pre>\n\n</details>\n"
	p := newPart(room-len(open)-len(shut), "benchmark")
	n := 0
	for i := range rows {
		b := &rows[i]
		text := explained(b.Explanation)
		if reason := lines(b.Reason, 50); len(reason) > 1 {
			text = append(reason, text...)
		}
		if len(text) == 0 {
			continue
		}
		n++
		s := fmt.Sprintf("%v  %s%s\n", b.verdict(), shorten(b.label(several), 200), b.worst())
		for _, l := range text {
			s += "    " + shorten(l, 500) + "\n"
		}
		p.add(raw(s))
	}
	if n == 0 {
		return ""
	}
	return open + p.end() + shut
}

func (d *Document) markdownRest() string {
	p := newPart(maxNotes, "note")
	if n := d.count()[gate.OK]; n > 0 {
		p.add(fmt.Sprintf("\n%s ok, unchanged to the instruction: %d.\n", plural(n, "benchmark"), d.unchanged()))
	}
	if len(d.Same) > 0 {
		p.add("\nNot measured, with the test binary of " + escape(shorten(d.Base, 100)) + ": " + code(shorten(strings.Join(d.Same, ", "), 500)) + "\n")
	}
	if d.OutOfScope > 0 {
		p.add(fmt.Sprintf("\nOut of scope: %s not looked at.\n", plural(d.OutOfScope, "budget")))
	}
	for _, n := range d.Notes {
		p.add("\nNote: " + code(shorten(n, 300)) + "\n")
	}
	p.add(fmt.Sprintf("\n%s/%s, %s, %s %s.\n", escape(d.Target.GOOS), escape(d.Target.GOARCH), escape(shorten(d.Toolchain.Go, 100)), escape(d.Target.Method), escape(d.Toolchain.Valgrind)))
	return p.end()
}

func markdownChanges(changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	p := newPart(maxChanges, "budget")
	fmt.Fprintf(&p.b, "\n**Budgets: %d changed**\n\n| benchmark | old | new | change | reason |\n|:--|--:|--:|--:|:--|\n", len(changes))
	several := changes[0].Pkg != changes[len(changes)-1].Pkg
	for i := range changes {
		c := &changes[i]
		row := Benchmark{Pkg: c.Pkg, Name: c.Name}
		delta := ""
		if c.Old != nil && c.New != nil && c.Old.Ir > 0 && c.Old.Ir != c.New.Ir {
			delta = gate.Change(c.Old.Ir, c.New.Ir).Signed()
		}
		reason := ""
		for _, l := range lines(c.Reason, 1) {
			reason = code(shorten(l, 300))
		}
		p.add(fmt.Sprintf("| %s | %s | %s | %s | %s |\n", code(shorten(row.label(several), 200)), escape(c.was()), escape(c.now()), escape(delta), reason))
	}
	return p.end()
}

// A part is one that takes pieces until there is no room, and counts the rest.
type part struct {
	b    strings.Builder
	room int
	noun string
	left int // pieces without room
}

// moreRoom is kept for the line that counts what found no room.
const moreRoom = 60

func newPart(room int, noun string) *part { return &part{room: room - moreRoom, noun: noun} }

func (p *part) add(s string) {
	if p.left > 0 || p.b.Len()+len(s) > p.room {
		p.left++
		return
	}
	p.b.WriteString(s)
}

func (p *part) end() string {
	if p.left > 0 {
		fmt.Fprintf(&p.b, "\n%s not shown for want of room.\n", plural(p.left, p.noun))
	}
	return p.b.String()
}

// code returns text as an element in which nothing is markup.
func code(s string) string {
	if s == "" {
		return ""
	}
	return "<code>" + escape(s) + "</code>"
}

// escape returns text in which nothing is Markdown or HTML, on one line. What
// might be markup is a character reference; behind @ and # there is a comment
// besides, since GitHub looks for mentions in what it has rendered.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case r == '@' || r == '#':
			fmt.Fprintf(&b, "&#%d;<!-- -->", r)
		case r == ':' && strings.HasPrefix(s[i+1:], " "), '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', strings.ContainsRune(" /,.%=+-()';", r):
			b.WriteRune(r)
		case r <= '~' && r >= ' ':
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.Map(visible, b.String())
}

// raw returns lines for a pre element.
func raw(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.Map(visible, s))
}
