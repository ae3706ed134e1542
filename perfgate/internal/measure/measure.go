// Package measure turns a module and a selection of its benchmarks into
// samples: it lists, builds and counts.
package measure

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// A Request says what to measure. The zero value is the package in the working
// folder with all its benchmarks.
type Request struct {
	Dir      string   // folder that the patterns start from
	Patterns []string // as in "go help packages"
	Bench    string   // as go test's -bench; "" for all
	Skip     string   // as go test's -skip
	Short    bool
	Args     []string // after perfgate's own, for the test binary
	Env      []string // NAME=VALUE, for the measured program
	Flags    exact.Flags
	Jobs     int           // processes side by side
	Timeout  time.Duration // for each process
}

// An Event tells of progress.
type Event struct {
	Message     string        // one line, or "" for a change of the following
	Phase       string        // what was done, and is now
	Took        time.Duration // that it took
	Done, Total int           // benchmarks
	Working     gate.Key      // one that is being measured
}

// An Instrument is what counts.
type Instrument struct {
	Counter  count.Counter
	Method   string // its name in a target
	Version  string
	Identity string // tells two installations apart
}

// A Session measures the benchmarks of one request on one machine.
type Session struct {
	Target    gate.Target // without cgo
	Toolchain gate.Toolchain
	Go        *exact.Go
	Packages  []exact.Package // with a benchmark that may match
	Listed    []exact.Package // all that the patterns match

	req      Request
	counter  count.Counter
	identity string // of the counter
	scratch  string
	overlay  *exact.Overlay
	progress func(Event)
	starts   *atomic.Int64         // shared by sessions beside each other
	aside    string                // what tells the phases of this session from another's
	side     string                // folder of the binaries: three letters, as argument lengths count
	laid     map[string]*laidTests // by import path; in a session beside another
	apart    map[string]Apart      // by import path; likewise
	faults   []gate.Sample         // of packages and benchmarks that cannot be measured
	dropped  bool                  // packages were left out

	mu       sync.Mutex
	reads    map[string]reads        // by import path; mu guards it
	binaries map[string]exact.Binary // by import path
	leaves   map[gate.Key]leaf
	lined    linedBinaries
}

// leaf is a benchmark without sub-benchmarks.
type leaf struct {
	gate.Key
	cgo    bool
	bytes  int64 // allocated by one iteration
	deeper bool  // its name begins the names of others: "a" beside "a/b"
}

// FindGo finds the toolchain that a session in dir is opened with.
func FindGo(ctx context.Context, dir, scratch string) (*exact.Go, error) {
	tmp := goFolder(scratch)
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, err
	}
	return exact.FindGo(ctx, dir, tmp)
}

// goFolder is where go has its temporary files.
func goFolder(scratch string) string { return filepath.Join(scratch, "go") }

// Open edits the toolchain g, lists the packages and looks at the CPU. Nothing is
// measured yet. scratch is a folder for temporary files, the one that g was found
// with.
func Open(ctx context.Context, g *exact.Go, req Request, with Instrument, scratch string, progress func(Event)) (*Session, error) {
	s := &Session{
		Go: g, req: req, counter: with.Counter, identity: with.Identity, scratch: scratch, progress: progress, side: "bin",
		binaries: make(map[string]exact.Binary), leaves: make(map[gate.Key]leaf), starts: new(atomic.Int64), reads: make(map[string]reads),
	}
	var err error
	start := time.Now()
	if s.overlay, err = s.Go.Overlay(req.Flags); err != nil {
		return nil, err
	}
	s.took(start, "%s: %d edits of %d files of its standard library", s.Go.Version, s.overlay.Edits, len(s.overlay.Edited))
	var features string
	err = parallel(ctx, 2,
		func(ctx context.Context) (err error) { features, err = s.features(ctx, goFolder(scratch)); return },
		func(ctx context.Context) (err error) {
			defer s.phase("go list")()
			s.Listed, err = s.Go.Packages(ctx, req.Flags, req.Patterns)
			return
		})
	if err != nil {
		return nil, err
	}
	s.Packages = s.selectPackages()
	s.Toolchain = gate.Toolchain{Go: s.Go.Version, Valgrind: with.Version}
	s.Target = gate.Target{
		GOOS: s.Go.GOOS, GOARCH: s.Go.GOARCH, Level: s.Go.Level, GOEXPERIMENT: s.Go.Experiment,
		CGO: "0", Method: with.Method, Rules: gate.RulesVersion, CPU: features, Flags: s.flags(),
	}
	return s, nil
}

func (s *Session) features(ctx context.Context, tmp string) (string, error) {
	probe, fresh, err := s.Go.BuildProbe(ctx, s.overlay, tmp, func() {
		s.say("building the standard library for exact counts (once per Go release, about 30 s)")
	})
	if err != nil {
		return "", err
	}
	if fresh > 2*time.Second {
		s.say(fmt.Sprintf("built the standard library in %d s", int(fresh.Seconds()+0.5)))
	}
	dir := filepath.Join(s.scratch, "features")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	defer s.phase("the CPU that programs see")()
	features, _, err := exact.Features(ctx, s.counted(), probe, dir, s.req.Timeout)
	return features, err
}

// flags is what the user asked for that changes a count. Of variables only the
// names are told: a value may be secret.
func (s *Session) flags() string {
	all := s.Go.Settings(s.req.Flags)
	if s.req.Short {
		all = append(all, "-short")
	}
	for _, v := range s.req.Env {
		name, _, _ := strings.Cut(v, "=")
		all = append(all, "-env="+name)
	}
	if len(s.req.Args) > 0 {
		all = append(append(all, "-args"), s.req.Args...)
	}
	return strings.Join(all, " ")
}

// counted is the counter, counting its starts.
func (s *Session) counted() count.Counter { return counterFunc(s.count) }

type counterFunc func(context.Context, process.Command, string, time.Duration) (count.Result, error)

func (f counterFunc) Run(ctx context.Context, c process.Command, scratch string, limit time.Duration) (count.Result, error) {
	return f(ctx, c, scratch, limit)
}

func (s *Session) count(ctx context.Context, c process.Command, scratch string, limit time.Duration) (count.Result, error) {
	s.starts.Add(1)
	return s.counter.Run(ctx, c, scratch, limit)
}

// Scratch returns the folder for temporary files that the session was opened
// with.
func (s *Session) Scratch() string { return s.scratch }

// Starts returns how many times a program was started under the counter.
func (s *Session) Starts() int { return int(s.starts.Load()) }

// phase begins to do something, and returns what ends it.
func (s *Session) phase(format string, args ...any) (end func()) {
	start := time.Now()
	return func() { s.took(start, format, args...) }
}

// took tells of a phase that has ended.
func (s *Session) took(start time.Time, format string, args ...any) {
	s.progress(Event{Phase: s.aside + fmt.Sprintf(format, args...), Took: time.Since(start)})
}

func (s *Session) say(message string) { s.progress(Event{Message: message}) }

// selectPackages returns the packages that have a benchmark function which the
// patterns may select, and those that cannot be built.
func (s *Session) selectPackages() []exact.Package {
	match := newMatcher(s.req.Bench, s.req.Skip)
	var found []exact.Package
	for _, p := range s.Listed {
		if slices.ContainsFunc(p.Benchmarks, func(b exact.Benchmark) bool { return match.mayContain(b.Name) }) {
			found = append(found, p)
		}
	}
	return found
}

// Run lists, builds and measures. Benchmarks with a budget are measured with
// the budget's K. With verify each is measured twice, and unequal counts are a
// fault. The samples are sorted.
//
// An error is trouble that is no single benchmark's: it leaves nothing
// measured.
func (s *Session) Run(ctx context.Context, budgets gate.Budgets, verify bool) ([]gate.Sample, error) {
	if _, err := s.prepare(ctx); err != nil {
		return nil, err
	}
	all := make(map[string]bool)
	for _, p := range s.Packages {
		all[p.ImportPath] = true
	}
	return s.RunSome(ctx, all, budgets, verify)
}

// RunSome is [Session.Run] for some of the packages. That there is nothing to
// measure in them is no error.
func (s *Session) RunSome(ctx context.Context, pkgs map[string]bool, budgets gate.Budgets, verify bool) ([]gate.Sample, error) {
	samples, err := s.prepareMissing(ctx, pkgs)
	if err != nil {
		return nil, err
	}
	var leaves []leaf
	for _, l := range s.leaves {
		if pkgs[l.Pkg] {
			leaves = append(leaves, l)
		}
	}
	measured, err := s.measureAll(ctx, leaves, budgets, verify)
	if err != nil {
		return nil, err // some of a package could pass for all of it
	}
	samples = append(samples, measured...)
	slices.SortFunc(samples, func(a, b gate.Sample) int { return a.Compare(b.Key) })
	return samples, nil
}

// Leaves lists the benchmarks that the request selects, without measuring them,
// and a faulty sample for each that cannot be.
func (s *Session) Leaves(ctx context.Context) ([]gate.Key, []gate.Sample, error) {
	faults, err := s.prepare(ctx)
	if err != nil {
		return nil, nil, err
	}
	var keys []gate.Key
	for k := range s.leaves {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, gate.Key.Compare)
	return keys, faults, nil
}

// Again measures samples once more, as they were measured before. A sample whose
// two slopes differ comes back with the fault Unstable.
func (s *Session) Again(ctx context.Context, samples []gate.Sample) ([]gate.Sample, error) {
	if !s.req.Flags.Exact() {
		return samples, nil
	}
	defer s.phase("counting %s once more", plural(len(samples), "benchmark"))()
	jobs := make([]func(context.Context) error, len(samples))
	again := slices.Clone(samples)
	for i := range again {
		jobs[i] = func(ctx context.Context) error {
			first := again[i]
			second, err := s.sample(ctx, s.leaves[first.Key], first.K, nil)
			if err == nil {
				again[i] = compareSamples(first, second)
			}
			return err
		}
	}
	return again, parallel(ctx, s.req.Jobs, jobs...)
}

// measureAll measures leaves side by side, those first that take longest as far
// as the budgets know.
func (s *Session) measureAll(ctx context.Context, leaves []leaf, budgets gate.Budgets, verify bool) ([]gate.Sample, error) {
	cost := func(l leaf) int64 {
		b, ok := budgets.Rows[l.Key]
		if !ok {
			return 1 << 62 // unknown may be long
		}
		return b.Ir.Round() * int64(iterations(b.K).hi)
	}
	slices.SortFunc(leaves, func(a, b leaf) int {
		if ca, cb := cost(a), cost(b); ca != cb {
			if ca > cb {
				return -1
			}
			return 1
		}
		return a.Compare(b.Key)
	})
	if len(leaves) == 0 {
		return nil, nil
	}
	defer s.phase("counting %s, %d at a time", plural(len(leaves), "benchmark"), s.req.Jobs)()
	samples := make([]gate.Sample, len(leaves))
	jobs := make([]func(context.Context) error, len(leaves))
	var done atomic.Int64
	for i, l := range leaves {
		jobs[i] = func(ctx context.Context) (err error) {
			s.progress(Event{Done: int(done.Load()), Total: len(leaves), Working: l.Key})
			k, ok := budgets.K(l.Key)
			if !ok {
				k = unknownK
			}
			samples[i], err = s.measure(ctx, l, k, verify)
			s.progress(Event{Done: int(done.Add(1)), Total: len(leaves), Working: l.Key})
			return err
		}
	}
	return samples, parallel(ctx, s.req.Jobs, jobs...)
}

// parallel runs jobs, at most n at a time, in their order. The first error
// cancels the rest and is returned.
func parallel(ctx context.Context, n int, jobs ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	queue := make(chan func(context.Context) error)
	for range min(max(n, 1), len(jobs)) {
		wg.Go(func() {
			for job := range queue {
				if err := job(ctx); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, job := range jobs {
		if ctx.Err() != nil {
			break
		}
		queue <- job
	}
	close(queue)
	wg.Wait()
	return context.Cause(ctx)
}
