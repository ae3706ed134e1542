package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/explain"
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
			freshFlag(o, fs)
			cureFlags(o, fs)
			formatFlag(o, fs)
			baselinesFlag(o, fs)
			baseFlag(o, fs, "instead of baselines.json judge against")
			fs.IntVar(&o.explained, "explain", 10, "explain the `n` red and improved rows that changed most; 0 for none")
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
		m := newMemory(s, o)
		var judgement gate.Judgement
		var changes []gate.BudgetChange
		var old oldSides
		if o.based {
			var b *base
			if judgement, b, err = checkBase(ctx, m, o, budgets); err == nil {
				old = b.oldSide
				changes, err = b.budgetChanges(ctx, file, path)
			}
		} else {
			judgement, err = checkFile(ctx, m, budgets)
			old = recordedSides(s, o, file, path)
		}
		if err != nil {
			return 0, err
		}
		explained, err := explainRows(ctx, s, judgement.Rows, o.explained, old)
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if err != nil { // which takes nothing from the verdict
			judgement.Notes = append(judgement.Notes, "not explained: "+err.Error())
		}
		p.clear()
		judgement.Notes = append(judgement.Notes, s.Warnings()...)
		options := o.gate()
		options.Same = len(judgement.Same) > 0
		code := gate.Exit(judgement.Rows, options)
		d := report.Judged(s.Target, s.Toolchain, judgement, runInfo(s, o, start, m.recalls))
		lower := "perfgate update " + o.selection(true)
		if o.based {
			lower = "" // a base is no budget to be lowered
		}
		d.Locate(placesOf(s))
		d.SetChanges(changes)
		d.Explain(func(k gate.Key) *explain.Explanation { return explained[k] })
		d.Summarize(code, lower)
		if err := writeDocument(ctx, d, o, std); err != nil {
			return 0, err
		}
		explainHint(ctx, judgement.Rows, o, std, old)
		if o.based {
			baseHints(judgement.Rows, std)
		} else {
			checkHints(judgement.Rows, o, std, path, found)
		}
		return code, nil
	})
}

// checkFile judges against the budgets of a file.
func checkFile(ctx context.Context, m *memory, budgets gate.Budgets) (gate.Judgement, error) {
	samples, err := m.run(ctx, budgets)
	if err != nil {
		return gate.Judgement{}, err
	}
	judgement := gate.Check(samples, budgets, m.session.Scope())
	red := regressed(judgement.Rows)
	if len(red) == 0 || m.verify || !m.exact {
		return judgement, nil
	}
	samples, err = m.confirm(ctx, samples, red, budgets)
	return gate.Check(samples, budgets, m.session.Scope()), err
}

// checkBase judges against the merge base, and returns that too. Limits of
// their own come from the file.
func checkBase(ctx context.Context, m *memory, o *options, file gate.Budgets) (gate.Judgement, *base, error) {
	b, err := openBase(ctx, m.session, o)
	if err != nil {
		return gate.Judgement{}, nil, err
	}
	var samples []gate.Sample
	if len(m.session.Packages) > 0 || len(b.same) == 0 {
		if samples, err = m.run(ctx, b.exponents(file)); err != nil {
			return gate.Judgement{}, nil, err
		}
	}
	budgets, err := b.budgets(ctx, samples, file)
	if err != nil {
		return gate.Judgement{}, nil, err
	}
	everything := func(gate.Key) bool { return true }
	judgement := gate.Check(samples, budgets, everything)
	red := regressed(judgement.Rows)
	if len(red) == 0 || m.verify || !m.exact {
		return judgement, b, nil
	}
	if samples, err = m.confirm(ctx, samples, red, budgets); err == nil {
		samples, budgets, err = b.confirm(ctx, samples, red, budgets, file)
	}
	return gate.Check(samples, budgets, everything), b, err
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

// baseHints prints how to accept a slowdown against the merge base.
func baseHints(rows []gate.Row, std streams) {
	for i := range rows {
		if r := &rows[i]; r.Verdict == gate.Regressed {
			hint(std, fmt.Sprintf("if meant, say so in the last paragraph of a commit message, a line for each benchmark: `%s: %s +%v%% why`", gate.AcceptTrailer, exact.Pattern(r.Name), gate.LimitFor(r)))
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
		hint(std, "record these with `perfgate update "+where+"`, or compare with main now: `perfgate check -base main "+where+"`")
	case len(has[gate.Incomparable]) > 0:
		fmt.Fprintf(std.err, "perfgate: incomparable: %s\n", has[gate.Incomparable][0].Reason)
		hint(std, "compare on this machine: `perfgate check -base main "+where+"`; or record anew: `perfgate update -allow-increase -reason \"...\" "+where+"`")
	case len(has[gate.New]) > 0 && o.newVerdict != "allow":
		hint(std, "record the new budgets with `perfgate update "+where+"`, or pass them with -new=allow")
	}
	if red := has[gate.Regressed]; len(red) > maxNames {
		hint(std, "if meant: `perfgate update -allow-increase -reason \"...\" "+where+"`")
	} else if len(red) > 0 {
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
