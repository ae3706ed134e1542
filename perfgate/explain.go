package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/explain"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

func explainCommand() command {
	return command{
		name: "explain", args: "[flags] BENCHMARK [packages]", short: "say where the instructions go, by function and line",
		long: `Explain counts one benchmark by function and source line. BENCHMARK is a name as
the tables print it, or a pattern that selects one; packages are all in and below
this folder by default. The functions that are listed and the line "other", which
is under 5 %, add up to the whole.

With -pprof it also writes a profile, for go tool pprof -top, -list and -http:
its sample type is Ir. Values are those of 10, 100, 1,000 or 10,000 iterations, as
-comments says; -divide_by shows one operation.

Example: perfgate explain -pprof new.pb.gz Store/size=64`,
		flags: func(o *options, fs *flag.FlagSet) {
			buildFlags(o, fs)
			baselinesFlag(o, fs)
			fs.StringVar(&o.pprof, "pprof", "", "write a profile for go tool pprof to `file`")
		},
		run: explainOne,
	}
}

func explainOne(ctx context.Context, o *options, std streams) (int, error) {
	name := o.request.Patterns[0]
	if o.request.Patterns = o.request.Patterns[1:]; len(o.request.Patterns) == 0 {
		o.request.Patterns = []string{"./..."}
	}
	o.request.Bench = patternOf(name)
	return withSession(ctx, o, std, func(s *measure.Session, p *progress) (int, error) {
		keys, faults, err := s.Leaves(ctx)
		if nothing, ok := errors.AsType[measure.ErrNothing](err); ok {
			nothing.Message = fmt.Sprintf("no benchmark in %s is %q", strings.Join(o.request.Patterns, " "), name)
			return 0, nothing
		}
		if err != nil {
			return 0, err
		}
		keys = named(keys, name)
		switch {
		case len(keys) == 0:
			return 0, fmt.Errorf("%v: %s", faults[0].Key, faults[0].Fault.Reason)
		case len(keys) > 1:
			writeAmbiguous(keys, name, std)
			return gate.ExitUsage, nil
		}
		budgets, err := budgetsFor(s, o)
		if err != nil {
			return 0, err
		}
		sample, err := s.Sample(ctx, keys[0], budgets)
		if err != nil {
			return 0, err
		}
		if f := sample.Fault; f != nil && f.Verdict != gate.Empty {
			return 0, fmt.Errorf("%v: %s", sample.Key, f.Reason)
		}
		profile, err := profileOf(ctx, s, sample)
		if err != nil {
			return 0, err
		}
		e := explain.Of(profile)
		e.Missing = contradiction(profile, sample)
		p.clear()
		fmt.Fprintf(std.out, "%v  %s Ir/op\n", sample.Key, report.Thousands(sample.IrPerOp))
		report.WriteExplanation(std.out, e, "")
		if o.pprof == "" {
			return gate.ExitOK, nil
		}
		return gate.ExitOK, writePprof(o.pprof, profile, sample.Key, s)
	})
}

// patternOf returns the pattern that selects what a name on the command line may
// mean: the benchmark of that name, or those that it is a pattern for.
func patternOf(name string) string {
	exactly := exact.Pattern(strings.TrimPrefix(name, "Benchmark"))
	if measure.CheckPattern(name) != nil || name == "" {
		return exactly
	}
	if name == regexp.QuoteMeta(name) {
		return name // which covers it
	}
	return name + "|" + exactly
}

// named returns the keys that have that very name, or all if none has.
func named(keys []gate.Key, name string) []gate.Key {
	var same []gate.Key
	for _, k := range keys {
		if k.Name == name || "Benchmark"+k.Name == name {
			same = append(same, k)
		}
	}
	if len(same) > 0 {
		return same
	}
	return keys
}

// writeAmbiguous says which benchmarks a name may mean, and how to name one.
func writeAmbiguous(keys []gate.Key, name string, std streams) {
	var names []string
	for _, k := range keys {
		names = append(names, k.String())
	}
	slices.Sort(names)
	if different := slices.Compact(slices.Clone(names)); len(different) > 1 {
		shown := strings.Join(different[:min(len(different), 8)], ", ")
		if len(different) > 8 {
			shown += ", ..."
		}
		fmt.Fprintf(std.err, "perfgate: %q is %d benchmarks: %s\n", name, len(different), shown)
		hint(std, "name one: perfgate explain "+quote(different[0]))
		return
	}
	var packages []string
	for _, k := range keys {
		packages = append(packages, k.Pkg)
	}
	fmt.Fprintf(std.err, "perfgate: %q is in %d packages: %s\n", name, len(packages), strings.Join(packages, ", "))
	hint(std, "name one: perfgate explain "+quote(name)+" "+quote(packages[0]))
}

// budgetsFor returns the budgets for this machine, whose iterations are what
// check uses.
func budgetsFor(s *measure.Session, o *options) (gate.Budgets, error) {
	path, err := budgetPath(s, o)
	if err != nil && o.baselines == "" {
		return gate.Budgets{}, nil
	}
	if err != nil {
		return gate.Budgets{}, err
	}
	file, _, err := readBudgets(path)
	if err != nil {
		return gate.Budgets{}, err
	}
	return file.Budgets(s.Target, s.Toolchain), nil
}

// profileOf counts by line what was measured.
func profileOf(ctx context.Context, s *measure.Session, sample gate.Sample) (explain.Profile, error) {
	lo, hi, err := s.Profile(ctx, sample.Key, sample.K)
	return explain.Profile{K: sample.K, Lo: lo, Hi: hi, Source: s.Source}, err
}

// contradiction says if a profile is not of what was measured, as can be when a
// benchmark looks at its own program.
func contradiction(p explain.Profile, sample gate.Sample) string {
	switch {
	case p.IrPerOp() != sample.IrPerOp:
		return fmt.Sprintf("built with line numbers it executes %v Ir/op instead of %v", p.IrPerOp(), sample.IrPerOp)
	case len(p.Hi.Lines) == 0:
		return "this valgrind reads no line numbers from the program"
	}
	return ""
}

func writePprof(file string, p explain.Profile, key gate.Key, s *measure.Session) error {
	var b bytes.Buffer
	if err := p.WritePprof(&b, key.String(), s.Path); err != nil {
		return err
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	return nil
}
