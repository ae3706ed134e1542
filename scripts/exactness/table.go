//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// A table collects what the runs of the conditions gave.
type table struct {
	suites     []suite
	references map[string]*document // by suite
	documents  map[string][]*document
	lines      []*line
}

// A line is a condition over one suite.
type line struct {
	condition, suite string
	runs, equal      int
	benchmarks       int
	seconds          float64
	skipped          string
	differs          []string // each difference once
}

func newTable() *table {
	return &table{references: make(map[string]*document), documents: make(map[string][]*document)}
}

func (t *table) reference(s suite, m *measured) {
	t.suites = append(t.suites, s)
	t.references[s.name] = m.document
	t.documents[s.name] = []*document{m.document}
	t.lines = append(t.lines, &line{condition: "reference", suite: s.name, runs: 1, equal: 1, benchmarks: len(m.rows), seconds: m.seconds})
	progress("reference, %s: %d benchmarks (%.0f s)", s.name, len(m.rows), m.seconds)
}

func (t *table) skip(c condition, why error) {
	t.lines = append(t.lines, &line{condition: c.name, suite: "-", skipped: why.Error()})
	progress("%s: %v", c.name, why)
}

// add compares run i of a condition with the reference. Trouble is a difference,
// too. With part the run left out packages.
func (t *table) add(c condition, i int, s suite, m *measured, err error, part bool) {
	l := t.line(c, s)
	l.runs++
	var found []string
	if err == nil {
		reference := t.references[s.name]
		if part {
			reference, err = reference.only(m.document)
		}
		if err == nil {
			found = compare(reference, m.document, c.place)
			t.documents[s.name] = append(t.documents[s.name], m.document)
			l.benchmarks, l.seconds = len(m.rows), l.seconds+m.seconds
		}
	}
	if err != nil {
		found = strings.Split(err.Error(), "\n")
	}
	verdict := "equal"
	if len(found) == 0 {
		l.equal++
	} else {
		verdict = "differs: " + strings.Join(found, "; ")
	}
	for _, f := range found {
		l.note(f)
	}
	progress("%s %d/%d, %s: %s", c.name, i+1, c.runs, s.name, verdict)
}

func (l *line) note(difference string) {
	for _, d := range l.differs {
		if d == difference {
			return
		}
	}
	l.differs = append(l.differs, difference)
}

func (t *table) line(c condition, s suite) *line {
	for _, l := range t.lines {
		if l.condition == c.name && l.suite == s.name {
			return l
		}
	}
	l := &line{condition: c.name, suite: s.name}
	t.lines = append(t.lines, l)
	return l
}

// err fails unless everything was equal.
func (t *table) err() error {
	n := 0
	for _, l := range t.lines {
		n += l.runs - l.equal
	}
	if n > 0 {
		return fmt.Errorf("%d runs are not equal to the reference", n)
	}
	return nil
}

func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "condition\tsuite\tbenchmarks\tequal runs\tseconds\tdiffers in")
	for _, l := range t.lines {
		if l.skipped != "" {
			fmt.Fprintf(tw, "%s\t%s\t\t\t\t%s\n", l.condition, l.suite, l.skipped)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d of %d\t%.0f\t", l.condition, l.suite, l.benchmarks, l.equal, l.runs, l.seconds)
		if len(l.differs) == 0 {
			fmt.Fprintln(tw, "nothing")
		}
		for i, d := range l.differs {
			if i > 0 {
				fmt.Fprint(tw, "\t\t\t\t\t")
			}
			fmt.Fprintln(tw, d)
		}
	}
	tw.Flush()
	for _, s := range t.suites {
		for i, text := range spread(t.documents[s.name]) {
			if i == 0 {
				fmt.Fprintf(w, "\nspread of what did not repeat in %s:\n", s.name)
			}
			fmt.Fprintln(w, "  "+text)
		}
	}
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "exactness: "+format+"\n", args...)
}
