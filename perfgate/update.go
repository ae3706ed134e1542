package main

import (
	"context"
	"flag"
	"fmt"
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

Exit status: 0 the file is right now; 1 something could not be measured (the rest
is written); 3 a budget was kept although its benchmark is over the limit;
4 the budgets are of another toolchain.

Example: perfgate update -allow-increase -reason "checks every block now" -bench Retrieve ./...`,
		flags: func(o *options, fs *flag.FlagSet) {
			selectFlags(o, fs)
			baselinesFlag(o, fs)
			fs.BoolVar(&o.allowIncrease, "allow-increase", false, "let budgets go up (needs -reason)")
			fs.StringVar(&o.reason, "reason", "", "`why` budgets go up; recorded in the file")
		},
		run: update,
	}
}

func update(ctx context.Context, o *options, std streams) (int, error) {
	start := time.Now()
	return withSession(ctx, o, std, func(s *measure.Session, p *progress) (int, error) {
		path, err := budgetPath(s, o)
		if err != nil {
			return 0, err
		}
		file, _, err := readBudgets(path)
		if err == nil {
			err = writable(path)
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
		err = changeBudgets(path, func(f *gate.File) (err error) {
			steps, err = f.Update(s.Target, s.Toolchain, samples, s.Scope(), gate.UpdateOptions{AllowIncrease: o.allowIncrease, Reason: o.reason})
			return err
		})
		if err != nil {
			return 0, err
		}
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

func writeSteps(std streams, steps []gate.Step, o *options, took time.Duration) {
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	n := make(map[gate.Action]int)
	several := len(steps) > 0 && steps[0].Pkg != steps[len(steps)-1].Pkg
	for _, s := range steps {
		n[s.Action]++
		name := s.Key.String()
		if several && !s.IsPackage() {
			name = s.Pkg + " " + name
		}
		switch s.Action {
		case gate.Unchanged:
			continue
		case gate.Unmeasured:
			reason, _, _ := strings.Cut(s.Sample.Fault.Reason, "\n")
			fmt.Fprintf(w, "%v\t%v\t%v: %s\n", s.Action, name, s.Verdict, reason)
		case gate.Dropped:
			fmt.Fprintf(w, "%v\t%v\t%s\n", s.Action, name, report.Thousands(s.Old.Ir))
		case gate.Added:
			fmt.Fprintf(w, "%v\t%v\t%s\n", s.Action, name, report.Thousands(s.New.Ir))
		default:
			fmt.Fprintf(w, "%v\t%v\t%s → %s\t%s\n", s.Action, name, report.Thousands(s.Old.Ir), report.Thousands(s.Sample.IrPerOp),
				gate.Change(s.Old.Ir, s.Sample.IrPerOp).Signed())
		}
	}
	w.Flush()
	var parts []string
	for a := gate.Unchanged; a <= gate.Unmeasured; a++ {
		if n[a] > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n[a], a))
		}
	}
	fmt.Fprintf(std.out, "budgets: %s  %.1f s\n", strings.Join(parts, ", "), took.Seconds())
	if n[gate.Kept] > 0 {
		hint(std, `kept budgets are lower than what was measured; to raise them: perfgate update -allow-increase -reason "..." `+o.selection(true))
	}
}
