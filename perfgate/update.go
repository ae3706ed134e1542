package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

func updateCommand() command {
	return command{
		name: "update", args: "[flags] [packages]", short: "ratchet the budgets in baselines.json down",
		long: `Update measures the benchmarks twice and writes baselines.json: it adds what has no
budget, lowers budgets that became too high, and removes those of benchmarks
that are gone. A budget goes up only with -allow-increase and -reason, which is
recorded with it. What -bench and -skip leave out stays as it is.

A budget fails a check at +1 % of instructions, allocations or bytes, and at any
increase from 0. -limit, -limit-allocs and -limit-bytes give the benchmarks that
are measured limits of their own, in percent: 0.1 for a promise, 5 for something
that may move. An increase from 0 counts as +100 %.

Exit status: 0 the file is right now; 1 something could not be measured (the rest
is written); 3 a budget was kept although its benchmark is over the limit;
4 the budgets are of another toolchain.

Example: perfgate update -allow-increase -reason "checks every block now" -bench Retrieve ./...`,
		flags: func(o *options, fs *flag.FlagSet) {
			selectFlags(o, fs)
			baselinesFlag(o, fs)
			fs.BoolVar(&o.allowIncrease, "allow-increase", false, "let budgets go up (needs -reason)")
			fs.StringVar(&o.reason, "reason", "", "`why` budgets go up; recorded in the file")
			limitFlag(o, fs, "limit", gate.Ir, "instructions")
			limitFlag(o, fs, "limit-allocs", gate.Allocs, "allocations")
			limitFlag(o, fs, "limit-bytes", gate.Bytes, "allocated bytes")
		},
		run: update,
	}
}

func limitFlag(o *options, fs *flag.FlagSet, name string, m gate.Metric, what string) {
	fs.Func(name, "let the "+what+" of what is measured grow by less than `percent`; \"default\" takes such a limit away", func(s string) error {
		if o.limits == nil {
			o.limits = make(map[gate.Metric]gate.Percent)
		}
		limit, err := gate.ParsePercent(s)
		if s == "default" {
			limit, err = 0, nil
		}
		if err == nil && limit < 0 {
			err = errors.New("want a percentage that is not negative, or default")
		}
		o.limits[m] = limit
		return err
	})
}

func update(ctx context.Context, o *options, std streams) (int, error) {
	start := time.Now()
	return withSession(ctx, o, std, func(s *measure.Session, p *progress) (int, error) {
		path, err := budgetPath(s, o)
		if err != nil {
			return 0, err
		}
		file, _, err := readBudgets(path)
		m := newMemory(s, o) // before anything is measured
		dir := filepath.Dir(path)
		if err == nil {
			err = m.began.Own(dir, func() error { return writable(path) })
		}
		if err == nil && !o.allowIncrease {
			err = file.SameToolchain(s.Target, s.Toolchain)
		}
		if err != nil {
			return 0, err
		}
		samples, err := s.Run(ctx, file.Budgets(s.Target, s.Toolchain), true)
		if err != nil {
			return 0, err
		}
		p.clear()
		var steps []gate.Step
		var recorded gate.Budgets
		err = m.began.Own(dir, func() error {
			return changeBudgets(ctx, path, func(f *gate.File) (err error) {
				steps, err = f.Update(s.Target, s.Toolchain, samples, s.Scope(), gate.UpdateOptions{AllowIncrease: o.allowIncrease, Reason: o.reason, Limits: o.limits})
				recorded = f.Budgets(s.Target, s.Toolchain)
				return err
			})
		})
		if err != nil {
			return 0, err
		}
		m.remember(ctx, samples, recorded)
		writeSteps(std, steps, o, time.Since(start))
		return updateStatus(steps), nil
	})
}

// updateStatus is the exit status of an update: what it could not put right.
func updateStatus(steps []gate.Step) int {
	code := gate.ExitOK
	for _, s := range steps {
		switch {
		case s.Over:
			return gate.ExitOver
		case s.Action == gate.Unmeasured:
			code = gate.ExitFault
		case s.Action == gate.Kept && s.Verdict == gate.Incomparable && code == gate.ExitOK:
			code = gate.ExitIncomparable
		}
	}
	return code
}

// Bounds of what is shown of an update.
const (
	maxSteps = 40 // of each kind
	maxNames = 5  // of benchmarks in a sentence
)

func writeSteps(std streams, steps []gate.Step, o *options, took time.Duration) {
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	n := make(map[gate.Action]int)
	several := len(steps) > 0 && steps[0].Pkg != steps[len(steps)-1].Pkg
	var tight []string
	left := 0
	for _, s := range steps {
		n[s.Action]++
		name := s.Key.String()
		if several && !s.IsPackage() {
			name = s.Pkg + " " + name
		}
		switch {
		case s.Action == gate.Unchanged:
		case n[s.Action] > maxSteps && !o.verbose:
			left++
		default:
			fmt.Fprintf(w, "%v\t%v\t%s\n", s.Action, name, describe(s))
		}
		if s.New != nil && s.New.Tight() && (s.Old == nil || s.Old.Limit != s.New.Limit) {
			tight = append(tight, name)
		}
	}
	w.Flush()
	if left > 0 {
		fmt.Fprintf(std.out, "... and %d more (-v shows all)\n", left)
	}
	if len(tight) > 0 {
		more := ""
		if len(tight) > maxNames {
			more = fmt.Sprintf(" and %d more", len(tight)-maxNames)
		}
		fmt.Fprintf(std.out, "note: %s (%s%s)\n", gate.TightNote, strings.Join(tight[:min(maxNames, len(tight))], ", "), more)
	}
	var parts []string
	for a := gate.Unchanged; a <= gate.Unmeasured; a++ {
		if n[a] > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n[a], a))
		}
	}
	fmt.Fprintf(std.out, "budgets: %s  %.1f s\n", strings.Join(parts, ", "), took.Seconds())
	if slices.ContainsFunc(steps, func(s gate.Step) bool { return s.Action == gate.Kept || s.Over }) {
		hint(std, `some budgets are lower than what was measured; to raise them: perfgate update -allow-increase -reason "..." `+o.selection(true))
	}
}

// describe says what a step did, in cells separated by tabs.
func describe(s gate.Step) string {
	switch s.Action {
	case gate.Unmeasured:
		reason, _, _ := strings.Cut(s.Sample.Fault.Reason, "\n")
		return fmt.Sprintf("%v: %s", s.Verdict, reason)
	case gate.Dropped:
		return report.Thousands(s.Old.Ir)
	case gate.Added:
		return report.Thousands(s.New.Ir) + limits(gate.Budget{}, *s.New)
	case gate.Limited:
		return report.Thousands(s.New.Ir) + limits(*s.Old, *s.New)
	}
	now := gate.Budget{Ir: s.Sample.IrPerOp, Allocs: s.Sample.AllocsPerOp, Bytes: s.Sample.BytesPerOp}
	text := fmt.Sprintf("%s → %s\t%s", report.Thousands(s.Old.Ir), report.Thousands(now.Ir), gate.Change(s.Old.Ir, now.Ir).Signed())
	for _, m := range []gate.Metric{gate.Allocs, gate.Bytes} {
		was, is := s.Old.Of(m), now.Of(m)
		switch {
		case was == is:
			continue
		case s.Action == gate.Lowered && s.New.Of(m) < is:
			text += fmt.Sprintf("\t%v %v → %v (kept at %v)", m, was, is, s.New.Of(m))
		default:
			text += fmt.Sprintf("\t%v %v → %v", m, was, is)
		}
	}
	return text + limits(*s.Old, *s.New)
}

// limits says which limits changed, in a cell of its own.
func limits(was, now gate.Budget) string {
	word := func(p gate.Percent) string {
		if p == 0 {
			return "default"
		}
		return "+" + p.String() + " %"
	}
	var all []string
	for _, m := range gate.Metrics() {
		if a, b := was.Own(m), now.Own(m); a != b {
			all = append(all, fmt.Sprintf("%v limit %s → %s", m, word(a), word(b)))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "\t" + strings.Join(all, ", ")
}
