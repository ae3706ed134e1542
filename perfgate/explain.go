package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
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
		long: `Explain counts one benchmark by function and source line; with -base REF it tells
what changed since the merge base with REF, measured with the test files of this
tree. BENCHMARK is a name as the tables print it, or a pattern that selects one;
packages are all in and below this folder by default. The functions that are
listed and the line "other", which is under 5 %, add up to the whole.

Profiles are for go tool pprof -top, -list, -http and -diff_base: their sample type
is Ir. Values are those of 10, 100, 1,000 or 10,000 iterations, as -comments says;
-divide_by shows one operation.

Example:

  perfgate explain -base main -pprof new.pb.gz -pprof-base old.pb.gz Store/size=64
  go tool pprof -top -diff_base old.pb.gz new.pb.gz`,
		flags: func(o *options, fs *flag.FlagSet) {
			buildFlags(o, fs)
			baselinesFlag(o, fs)
			baseFlag(o, fs, "tell what changed since")
			fs.StringVar(&o.pprof, "pprof", "", "write a profile for go tool pprof to `file`")
			fs.StringVar(&o.pprofBase, "pprof-base", "", "with -base, write a profile of the base to `file`")
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
		key, err := choose(keys, faults, name)
		if several, ok := errors.AsType[errSeveral](err); ok {
			fmt.Fprintf(std.err, "perfgate: %v\n", several)
			hint(std, "name one: perfgate explain "+several.one)
			return gate.ExitUsage, nil
		}
		if err != nil {
			return 0, err
		}
		budgets, err := budgetsFor(s, o)
		if err != nil {
			return 0, err
		}
		sample, err := s.Sample(ctx, key, budgets)
		if err != nil {
			return 0, err
		}
		if f := sample.Fault; f != nil && f.Verdict != gate.Empty {
			return 0, fmt.Errorf("%v: %s", sample.Key, f.Reason)
		}
		e, profiles, err := explainSample(ctx, s, o, sample)
		if err != nil {
			return 0, err
		}
		p.clear()
		if e.Old <= 0 {
			fmt.Fprintf(std.out, "%v  %s Ir/op\n", sample.Key, report.Thousands(sample.IrPerOp))
		} else {
			fmt.Fprintf(std.out, "%v  %s → %s Ir/op  %s\n", sample.Key, report.Thousands(e.Old), report.Thousands(sample.IrPerOp), gate.Change(e.Old, e.New).Signed())
		}
		report.WriteExplanation(std.out, e, "")
		for i, file := range []string{o.pprof, o.pprofBase} {
			if file == "" {
				continue
			}
			if err := writePprof(ctx, file, profiles[i], sample.Key, s, std); err != nil {
				return 0, err
			}
		}
		return gate.ExitOK, nil
	})
}

// explainSample explains a sample, with -base against the merge base, and
// returns the profiles of the new and the old side.
func explainSample(ctx context.Context, s *measure.Session, o *options, sample gate.Sample) (*explain.Explanation, [2]explain.Profile, error) {
	var profiles [2]explain.Profile
	one := []gate.Sample{sample}
	news, err := s.Profiles(ctx, one)
	if err != nil {
		return nil, profiles, err
	}
	if why := news[0].Missing; why != "" {
		return nil, profiles, fmt.Errorf("%v, built with line numbers: %s", sample.Key, why)
	}
	profiles[0] = profileOf(s, sample.K, news[0])
	if !o.based {
		e := explain.Of(profiles[0])
		e.Missing = contradiction(profiles[0], sample.IrPerOp)
		return e, profiles, nil
	}
	b, err := findBase(ctx, s, o)
	if err != nil {
		return nil, profiles, err
	}
	tree, err := openTree(ctx, s, b.repo, b.commit, "b00")
	if err != nil {
		return nil, profiles, err
	}
	olds, err := tree.Profiles(ctx, one)
	if err != nil {
		return nil, profiles, err
	}
	side := oldSide{tree: tree, what: theBase, commit: b.commit}
	if why := olds[0].Missing; why != "" {
		return nil, profiles, fmt.Errorf("%v: %v: %s", sample.Key, side, why)
	}
	profiles[1] = profileOf(tree, sample.K, olds[0])
	return explainChange(sample, profiles[1].IrPerOp(), s, news[0], side, olds[0]), profiles, nil
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

// errSeveral is the error of a name that may mean several benchmarks.
type errSeveral struct{ message, one string }

func (e errSeveral) Error() string { return e.message }

// choose returns the benchmark of that very name or, if there is none, the one
// that there is. A benchmark that cannot be measured is an error.
func choose(keys []gate.Key, faults []gate.Sample, name string) (gate.Key, error) {
	very := func(k gate.Key) bool { return k.Name == name || "Benchmark"+k.Name == name }
	same := slices.DeleteFunc(slices.Clone(keys), func(k gate.Key) bool { return !very(k) })
	broken := slices.IndexFunc(faults, func(f gate.Sample) bool { return very(f.Key) })
	switch {
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		return gate.Key{}, several(same, name)
	case broken >= 0:
		return gate.Key{}, fmt.Errorf("%v: %s", faults[broken].Key, faults[broken].Fault.Reason)
	case len(keys) == 1:
		return keys[0], nil
	case len(keys) > 1:
		return gate.Key{}, several(keys, name)
	}
	return gate.Key{}, fmt.Errorf("%v: %s", faults[0].Key, faults[0].Fault.Reason)
}

// several says which benchmarks a name may mean, and how to name one.
func several(keys []gate.Key, name string) errSeveral {
	var names, packages []string
	for _, k := range keys {
		names, packages = append(names, k.String()), append(packages, k.Pkg)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 1 {
		return errSeveral{
			fmt.Sprintf("%q is in %d packages: %s", name, len(packages), strings.Join(packages, ", ")),
			quote(name) + " " + quote(packages[0]),
		}
	}
	const most = 8
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		shown += ", ..."
	}
	return errSeveral{fmt.Sprintf("%q is %d benchmarks: %s", name, len(names), shown), quote(names[0])}
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

func writePprof(ctx context.Context, file string, p explain.Profile, key gate.Key, s *measure.Session, std streams) error {
	var b bytes.Buffer
	if err := p.WritePprof(&b, key.String(), s.Path); err != nil {
		return err
	}
	if err := (output{path: file}).write(ctx, b.Bytes(), std); err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	return nil
}
