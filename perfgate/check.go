package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

func checkCommand() command {
	return command{
		name: "check", args: "[flags] [packages]", short: "measure and judge against baselines.json",
		long: `Check measures the benchmarks of the packages (default: the one in this folder)
and compares instructions, allocations and bytes per operation with the budgets
in baselines.json. It fails where one of them is +1 % or more, or was 0, and warns
from +0.2 %; see "perfgate help update" for other limits. A benchmark over its
limit is measured once more before it is called regressed.

Exit status: 0 all ok, warned or improved; 1 something could not be measured;
2 usage or nothing to measure; 3 regressed, or a budget's benchmark is gone;
4 incomparable, or a benchmark without a budget.

Example: perfgate check ./...`,
		flags: func(o *options, fs *flag.FlagSet) {
			selectFlags(o, fs)
			verifyFlag(o, fs)
			formatFlag(o, fs)
			baselinesFlag(o, fs)
			fs.Func("base", "judge against the merge base with `ref` instead, measured the same way; \"\" is origin/main or main", func(ref string) error {
				o.base, o.based = ref, true
				return nil
			})
			fs.BoolVar(&o.exact, "exact", false, "fail at +0.1 % where nothing is allocated and the budget has no limit of its own")
			fs.StringVar(&o.newVerdict, "new", "fail", "benchmarks without a budget: `fail` or allow")
			fs.StringVar(&o.stale, "stale", "ok", "budgets that are 1 % or more too high: `ok` or fail")
		},
		run: check,
	}
}

func check(ctx context.Context, o *options, std streams) (int, error) {
	start := time.Now()
	return withSession(ctx, o, std, func(s *measure.Session, p *progress) (int, error) {
		path, err := budgetPath(s, o)
		if err != nil {
			return 0, err
		}
		file, found, err := readBudgets(path)
		if err != nil {
			return 0, err
		}
		budgets := file.Budgets(s.Target, s.Toolchain)
		budgets.Exact = o.exact
		var judgement gate.Judgement
		var changes []gate.BudgetChange
		if o.based {
			judgement, changes, err = checkBase(ctx, s, o, budgets, file, path)
		} else {
			judgement, err = checkFile(ctx, s, o, budgets)
		}
		if err != nil {
			return 0, err
		}
		p.clear()
		options := o.gate()
		options.Same = len(judgement.Same) > 0
		code := gate.Exit(judgement.Rows, options)
		judgement.Notes = append(judgement.Notes, s.Warnings()...)
		d := report.Judged(s.Target, s.Toolchain, judgement, runInfo(s, o, start))
		d.Locate(func(k gate.Key) report.Place {
			file, line := s.Place(k)
			return report.Place{File: file, Line: line}
		})
		d.SetChanges(changes)
		update := "perfgate update " + o.selection(true)
		if o.based {
			update = ""
		}
		d.Summarize(code, update)
		if err := writeDocument(d, o, std); err != nil {
			return 0, err
		}
		if o.based {
			baseHints(judgement.Rows, o, std)
		} else {
			checkHints(judgement.Rows, o, std, path, found)
		}
		return code, nil
	})
}

// checkFile judges against the budgets of a file.
func checkFile(ctx context.Context, s *measure.Session, o *options, budgets gate.Budgets) (gate.Judgement, error) {
	samples, err := s.Run(ctx, budgets, o.verify)
	if err != nil {
		return gate.Judgement{}, err
	}
	judgement := gate.Check(samples, budgets, s.Scope())
	if red := regressed(judgement.Rows); len(red) > 0 && !o.verify {
		// A red row must repeat before anyone is told.
		again, err := s.Again(ctx, red)
		if err != nil {
			return gate.Judgement{}, err
		}
		judgement = gate.Check(replaced(samples, again), budgets, s.Scope())
	}
	return judgement, nil
}

// checkBase judges against the merge base.
func checkBase(ctx context.Context, s *measure.Session, o *options, limits gate.Budgets, file *gate.File, path string) (j gate.Judgement, changes []gate.BudgetChange, err error) {
	b, err := openBase(ctx, s, o)
	if err == nil {
		changes, err = b.budgetChanges(ctx, file, path)
	}
	if err != nil {
		return j, nil, err
	}
	var samples []gate.Sample
	if len(s.Packages) > 0 || len(b.same) == 0 {
		if samples, err = s.Run(ctx, b.exponents(limits), o.verify); err != nil {
			return j, nil, err
		}
	}
	budgets, err := b.budgets(ctx, samples, limits)
	if err != nil {
		return j, nil, err
	}
	everything := func(gate.Key) bool { return true }
	j = gate.Check(samples, budgets, everything)
	if red := regressed(j.Rows); len(red) > 0 && !o.verify {
		again, err := s.Again(ctx, red)
		if err != nil {
			return j, nil, err
		}
		if samples, budgets, err = b.confirm(ctx, replaced(samples, again), red, budgets, limits); err != nil {
			return j, nil, err
		}
		j = gate.Check(samples, budgets, everything)
	}
	return j, changes, nil
}

// regressed returns the samples of the rows that would fail the gate.
func regressed(rows []gate.Row) []gate.Sample {
	var red []gate.Sample
	for _, r := range rows {
		if r.Verdict == gate.Regressed {
			red = append(red, *r.Sample)
		}
	}
	return red
}

// replaced returns samples with those of again in place of their namesakes.
func replaced(samples, again []gate.Sample) []gate.Sample {
	out := slices.Clone(samples)
	for _, a := range again {
		for i := range out {
			if out[i].Key == a.Key {
				out[i] = a
			}
		}
	}
	return out
}

// baseHints prints the next command for what the merge base shows.
func baseHints(rows []gate.Row, o *options, std streams) {
	for _, r := range rows {
		if r.Verdict == gate.Regressed {
			hint(std, fmt.Sprintf("if meant, say so at the end of a commit message: %s: %s +%v%% why", gate.AcceptTrailer, exact.Pattern(r.Name), gate.LimitFor(r.Deciding())))
			return
		}
	}
}

// checkHints prints the next command for each thing that is not as it should be.
func checkHints(rows []gate.Row, o *options, std streams, path string, found bool) {
	has := make(map[gate.Verdict][]gate.Row)
	for _, r := range rows {
		has[r.Verdict] = append(has[r.Verdict], r)
	}
	where := o.selection(true)
	switch {
	case !found:
		fmt.Fprintf(std.err, "perfgate: no budgets yet (%s)\n", filepath.Base(path))
		hint(std, "record these with `perfgate update "+where+"`")
	case len(has[gate.Incomparable]) > 0:
		fmt.Fprintf(std.err, "perfgate: incomparable: %s\n", has[gate.Incomparable][0].Reason)
		hint(std, "record anew: `perfgate update -allow-increase -reason \"...\" "+where+"`")
	case len(has[gate.New]) > 0 && o.newVerdict != "allow":
		hint(std, "record the new budgets with `perfgate update "+where+"`, or pass them with -new=allow")
	}
	if red := has[gate.Regressed]; len(red) > 0 {
		var patterns []string
		for _, r := range red {
			patterns = append(patterns, exact.Pattern(r.Name))
		}
		hint(std, fmt.Sprintf("if meant: `perfgate update -allow-increase -reason \"...\" -bench %s %s`", quote(strings.Join(patterns, "|")), o.selection(false)))
	}
	if gone := has[gate.Removed]; len(gone) > 0 {
		hint(std, "if it is meant to be gone: `perfgate update "+where+"`")
	}
}
