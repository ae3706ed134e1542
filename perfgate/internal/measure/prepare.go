package measure

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// prepare builds the packages and finds the leaves. It returns faulty samples
// for packages and benchmarks that cannot be measured.
func (s *Session) prepare(ctx context.Context) ([]gate.Sample, error) {
	if len(s.Packages) == 0 {
		return nil, s.nothing(nil)
	}
	if err := s.prepareThose(ctx, s.Packages); err != nil {
		return nil, err
	}
	if len(s.leaves) == 0 && len(s.faults) == 0 && !s.dropped {
		return nil, s.nothing(s.otherLeaves(ctx))
	}
	return slices.Clone(s.faults), nil
}

// prepareThose prepares those of the packages that are not prepared yet.
func (s *Session) prepareThose(ctx context.Context, packages []exact.Package) error {
	packages = slices.DeleteFunc(slices.Clone(packages), func(p exact.Package) bool {
		_, ok := s.binaries[p.ImportPath]
		return ok
	})
	if len(packages) == 0 {
		return nil
	}
	s.say(fmt.Sprintf("building %s for exact counts", plural(len(packages), "package")))
	defer s.phase("building %s and listing its benchmarks", plural(len(packages), "package"))()
	type prepared struct {
		leaves []leaf
		faults []gate.Sample
		binary exact.Binary
	}
	results := make([]prepared, len(packages))
	jobs := make([]func(context.Context) error, len(packages))
	for i, p := range packages {
		jobs[i] = func(ctx context.Context) (err error) {
			r := &results[i]
			r.binary, r.faults, err = s.build(ctx, p)
			if err == nil && r.faults == nil {
				r.leaves, r.faults, err = s.list(ctx, p, r.binary, s.req.Bench)
			}
			return err
		}
	}
	if err := parallel(ctx, s.req.Jobs, jobs...); err != nil {
		return err
	}
	for i, p := range packages {
		s.binaries[p.ImportPath] = results[i].binary
		s.faults = append(s.faults, results[i].faults...)
		for _, l := range results[i].leaves {
			s.leaves[l.Key] = l
		}
	}
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// build compiles a package. Test files that were laid over another tree and do
// not compile there give way to the tree's own.
func (s *Session) build(ctx context.Context, p exact.Package) (exact.Binary, []gate.Sample, error) {
	for {
		b, faults, err := s.buildOnce(ctx, p)
		laid := s.laid[p.ImportPath]
		if err != nil || faults == nil || laid == nil {
			return b, faults, err
		}
		again, err := laid.giveWay(faults[0].Fault.Reason)
		if err != nil || !again {
			return b, faults, err
		}
		listed, err := s.Go.Packages(ctx, s.req.Flags, []string{p.Dir})
		if err != nil {
			return b, nil, err
		}
		p = listed[0]
	}
}

func (s *Session) buildOnce(ctx context.Context, p exact.Package) (exact.Binary, []gate.Sample, error) {
	whole := gate.Package(p.ImportPath)
	if p.Err != "" {
		return exact.Binary{}, []gate.Sample{gate.BrokenSample(whole, "does not compile: "+strings.TrimSpace(p.Err))}, nil
	}
	dir := filepath.Join(s.scratch, s.side, digest(p.ImportPath))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return exact.Binary{}, nil, err
	}
	b := exact.Binary{Path: filepath.Join(dir, "bench.test"), Dir: p.Dir, Args: s.req.Args, Env: s.req.Env, Short: s.req.Short, Sysmon: s.req.Flags.Sysmon}
	err := s.Go.Build(ctx, s.overlay, p, s.req.Flags, b.Path)
	if ctx.Err() != nil {
		return b, nil, context.Cause(ctx)
	}
	if err != nil && process.Trouble(err.Error()) {
		// Whether it compiles is not known.
		return b, nil, fmt.Errorf("building %s: %w", p.ImportPath, err)
	}
	if err != nil {
		return b, []gate.Sample{gate.BrokenSample(whole, "does not compile: "+compilerText(err.Error()))}, nil
	}
	return b, nil, nil
}

// compilerText drops the lines of go's output that only name the package.
func compilerText(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// maxCrashes is how many benchmarks of a package may end the process before the
// rest of the package is given up.
const maxCrashes = 20

// list runs each selected benchmark of a package once, not under the counter:
// sub-benchmarks are only known when their parent runs. A benchmark that ends
// the process is left out, and the others are listed again.
func (s *Session) list(ctx context.Context, p exact.Package, b exact.Binary, bench string) ([]leaf, []gate.Sample, error) {
	if bench == "" {
		bench = "."
	}
	var faults []gate.Sample
	skip := s.req.Skip
	for {
		start := time.Now()
		out, err := s.runNative(ctx, p, b, bench, skip, 1)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		leaves, found := s.readList(p, out)
		if exact.Ended(out.Stdout) && (err == nil || len(found) > 0) {
			s.noteListing(p, b, bench, skip, time.Since(start))
			return leaves, append(faults, found...), nil
		}
		culprit := exact.Started(out.Stdout)
		why := describeEnd(err, out, culprit)
		if limit, ok := errors.AsType[count.ErrTimeout](err); ok {
			why = limit.Error() + " for one iteration: " + reasonForTime(limit.Limit, out.Busy)
		}
		again := slices.ContainsFunc(faults, func(f gate.Sample) bool { return f.Name == culprit })
		if culprit == "" || again || len(faults) == maxCrashes {
			whole := gate.BrokenSample(gate.Package(p.ImportPath), "listing its benchmarks: "+why)
			return leaves, append(append(faults, found...), whole), nil
		}
		faults = append(faults, gate.BrokenSample(gate.Key{Pkg: p.ImportPath, Name: culprit}, why))
		skip = strings.TrimPrefix(skip+"|"+exact.Pattern(culprit), "|")
	}
}

func (s *Session) runNative(ctx context.Context, p exact.Package, b exact.Binary, bench, skip string, n int) (process.Output, error) {
	dir, err := s.runDir(gate.Package(p.ImportPath))
	if err != nil {
		return process.Output{}, err
	}
	defer removeAll(dir)
	c, err := b.ListCommand(dir, bench, skip, n)
	if err != nil {
		return process.Output{}, err
	}
	timed, cancel := context.WithTimeoutCause(ctx, s.req.Timeout, count.ErrTimeout{Limit: s.req.Timeout})
	defer cancel()
	out, err := process.Run(timed, c)
	if log, logErr := os.ReadFile(filepath.Join(dir, "log")); logErr == nil {
		s.noteReads(p, log)
	}
	return out, err
}

func (s *Session) readList(p exact.Package, out process.Output) (leaves []leaf, faults []gate.Sample) {
	results := exact.Results(out.Stdout)
	has, parents := make(map[string]bool), make(map[string]bool)
	for _, r := range results {
		has[r.Name] = true
		addParents(parents, r.Name)
	}
	for _, r := range results {
		leaves = append(leaves, leaf{Key: gate.Key{Pkg: p.ImportPath, Name: r.Name}, cgo: p.CGO, bytes: r.Bytes, deeper: parents[r.Name]})
	}
	failed, skipped := exact.Failures(out.Stdout)
	failedChild := make(map[string]bool)
	for name := range failed {
		addParents(failedChild, name)
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		if !has[name] && !failedChild[name] {
			faults = append(faults, gate.BrokenSample(gate.Key{Pkg: p.ImportPath, Name: name}, "fails: "+withCure(orNone(failed[name]))))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(skipped)) {
		if !has[name] {
			faults = append(faults, gate.BrokenSample(gate.Key{Pkg: p.ImportPath, Name: name},
				"skips itself: "+orNone(skipped[name])+"\nleave it out with -skip, or give it what it needs (-env, -args)"))
		}
	}
	return leaves, faults
}

// addParents adds what stands before each slash in a name.
func addParents(parents map[string]bool, name string) {
	for i := range len(name) {
		if name[i] == '/' {
			parents[name[:i]] = true
		}
	}
}

func orNone(why string) string {
	if why == "" {
		return "(no message)"
	}
	return why
}

// otherLeaves lists what there is without the user's selection, for a hint.
func (s *Session) otherLeaves(ctx context.Context) []string {
	top, _, _ := strings.Cut(s.req.Bench, "/")
	if CheckPattern(top) != nil {
		top = "."
	}
	var names []string
	for _, p := range s.Packages {
		leaves, _, err := s.list(ctx, p, s.binaries[p.ImportPath], top)
		if err != nil {
			return nil
		}
		for _, l := range leaves {
			names = append(names, l.Name)
		}
	}
	return names
}
