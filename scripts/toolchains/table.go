//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A line is what came of one release.
type line struct {
	release    string // as in "go1.26.8"
	edits      string // of the standard library, as perfgate says
	benchmarks int
	equal      int
	faults     []string // "name: what is wrong"
}

func (l *line) exact() bool {
	return l.edits != "" && l.benchmarks > 0 && l.equal == l.benchmarks && len(l.faults) == 0
}

var edited = regexp.MustCompile(`(?m)(go\S+): (\d+ edits of \d+ files) of its standard library$`)

// read fills a line in from what perfgate run -verify -v -format json printed.
func (l *line) read(stdout, stderr string) error {
	m := edited.FindStringSubmatch(stderr)
	if m == nil {
		return errors.New("perfgate does not say that it edited the standard library")
	}
	if m[1] != l.release {
		return fmt.Errorf("perfgate used %s", m[1])
	}
	l.edits = m[2]
	var d struct {
		Toolchain  struct{ Go string }
		Benchmarks []struct {
			Pkg, Name, Verdict, Reason string
			IrPerOp                    *float64 `json:"ir_per_op"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		return fmt.Errorf("reading perfgate's document: %w", err)
	}
	if d.Toolchain.Go != l.release {
		return fmt.Errorf("perfgate measured with %s", d.Toolchain.Go)
	}
	for _, b := range d.Benchmarks {
		l.benchmarks++
		// A run judges nothing: a verdict is a fault.
		if b.Verdict == "" && b.IrPerOp != nil {
			l.equal++
			continue
		}
		reason, _, _ := strings.Cut(b.Reason, "\n")
		l.faults = append(l.faults, fmt.Sprintf("%s %s: %s: %s", b.Pkg, b.Name, b.Verdict, reason))
	}
	return nil
}

// write prints a table, and below it what is not equal.
func write(w io.Writer, lines []line) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "release\tstandard library\tbenchmarks\tequal")
	for _, l := range lines {
		edits := l.edits
		if edits == "" {
			edits = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\n", l.release, edits, l.benchmarks, l.equal)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, l := range lines {
		for _, f := range l.faults {
			if _, err := fmt.Fprintf(w, "%s: %s\n", l.release, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// patches returns the patch releases of a release among versions, the newest
// first. Others, such as 1.26rc1, are none.
func patches(versions []string, release string) []string {
	number := func(v string) int {
		patch, ok := strings.CutPrefix(v, release+".")
		n, err := strconv.Atoi(patch)
		if !ok || err != nil {
			return -1
		}
		return n
	}
	found := slices.DeleteFunc(slices.Clone(versions), func(v string) bool { return number(v) < 0 })
	slices.SortFunc(found, func(a, b string) int { return number(b) - number(a) })
	return found
}
