//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A table collects outcomes.
type table struct{ outcomes []outcome }

func (t *table) add(o []outcome) { t.outcomes = append(t.outcomes, o...) }

func equal(outcomes []outcome) int {
	n := 0
	for _, o := range outcomes {
		if o.equal {
			n++
		}
	}
	return n
}

func summary(outcomes []outcome) string {
	return fmt.Sprintf("%d of %d equal", equal(outcomes), len(outcomes))
}

// err fails unless so many percent of the benchmarks are equal.
func (t *table) err(share int) error {
	if len(t.outcomes) == 0 {
		return fmt.Errorf("no module matches -run")
	}
	if equal(t.outcomes)*100 < share*len(t.outcomes) {
		return fmt.Errorf("%s: fewer than %d %%", summary(t.outcomes), share)
	}
	return nil
}

func (t *table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "module\tbenchmark\tIr/op\tequal\treason")
	for _, o := range t.outcomes {
		name := strings.TrimPrefix(o.dir+"/"+o.name, "./")
		if o.equal {
			fmt.Fprintf(tw, "%v\t%s\t%s\tyes\t\n", o.module, name, o.ir)
			continue
		}
		fmt.Fprintf(tw, "%v\t%s\t%s\tno\tsee below\n", o.module, name, o.ir)
	}
	tw.Flush()
	for _, o := range t.outcomes {
		if !o.equal {
			fmt.Fprintf(w, "\n%v ./%s %s\n%s\n%s\n", o.module, o.dir, o.name, indented(o.reason), indented(o.native))
		}
	}
	if len(t.outcomes) > 0 {
		fmt.Fprintf(w, "\n%s\n", summary(t.outcomes))
	}
}

// indented indents every line of a text that has one.
func indented(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
