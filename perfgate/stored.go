package main

import (
	"context"
	"flag"
	"maps"
	"path/filepath"
	"slices"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

func freshFlag(o *options, fs *flag.FlagSet) {
	fs.BoolVar(&o.fresh, "fresh", false, "measure what did not change since it was measured last, too")
}

// A memory measures what it does not remember: the packages that did not change
// since they were measured have the counts of that time.
type memory struct {
	session *measure.Session
	results results
	began   *measure.Start
	inputs  map[string]string // by package
	exact   bool              // counts repeat
	verify  bool
	fresh   bool
	recalls []string // packages whose counts were remembered, sorted
}

func newMemory(s *measure.Session, o *options) *memory {
	m := &memory{
		session: s, results: results{filepath.Join(s.Go.Cache, "results")}, began: measure.Began(s.Scratch()), inputs: make(map[string]string),
		exact: o.request.Flags.Exact(), verify: o.verify, fresh: o.fresh || o.verify || !o.request.Flags.Exact(),
	}
	for _, p := range s.Packages {
		if inputs, err := s.Inputs(p.ImportPath); err == nil && p.Err == "" {
			m.inputs[p.ImportPath] = inputs
		}
	}
	return m
}

// key is that of a package's results, which also depend on the K that budgets
// ask for; "" for a package that cannot have any.
func (m *memory) key(pkg string, budgets gate.Budgets) string {
	if m.inputs[pkg] == "" {
		return ""
	}
	parts := []any{"head", m.inputs[pkg]}
	for _, k := range slices.SortedFunc(maps.Keys(budgets.Rows), gate.Key.Compare) {
		if k.Pkg == pkg {
			parts = append(parts, k.Name, budgets.Rows[k].K)
		}
	}
	return resultKey(parts...)
}

// run is [measure.Session.Run], but for what is remembered.
func (m *memory) run(ctx context.Context, budgets gate.Budgets) ([]gate.Sample, error) {
	var samples []gate.Sample
	rest := make(map[string]bool)
	m.recalls = nil
	for _, p := range m.session.Packages {
		if known := m.recall(p.ImportPath, budgets); known != nil {
			samples = append(samples, known...)
			m.recalls = append(m.recalls, p.ImportPath)
		} else {
			rest[p.ImportPath] = true
		}
	}
	if len(m.recalls) == 0 {
		measured, err := m.session.Run(ctx, budgets, m.verify)
		if err != nil {
			return nil, err
		}
		m.remember(ctx, measured, budgets)
		return measured, nil
	}
	measured, err := m.session.RunSome(ctx, rest, budgets, m.verify)
	if err != nil {
		return nil, err
	}
	m.remember(ctx, measured, budgets)
	samples = append(samples, measured...)
	slices.SortFunc(samples, func(a, b gate.Sample) int { return a.Compare(b.Key) })
	return samples, nil
}

// recall returns the samples of a package, or nil.
func (m *memory) recall(pkg string, budgets gate.Budgets) []gate.Sample {
	key := m.key(pkg, budgets)
	if key == "" || m.fresh {
		return nil
	}
	d := m.results.load(key)
	if d == nil {
		return nil
	}
	samples := d.Samples()
	if slices.ContainsFunc(samples, func(s gate.Sample) bool {
		k, ok := budgets.K(s.Key)
		return ok && k != s.K
	}) {
		return nil // recorded as it was not measured
	}
	return samples
}

// remember keeps the samples of packages that have no fault and did not change
// since the command began. What cannot be kept is measured again the next time.
func (m *memory) remember(ctx context.Context, samples []gate.Sample, budgets gate.Budgets) {
	if !m.exact {
		return
	}
	packages := make(map[string][]gate.Sample)
	faulty := make(map[string]bool)
	for _, s := range samples {
		packages[s.Pkg] = append(packages[s.Pkg], s)
		faulty[s.Pkg] = faulty[s.Pkg] || s.Fault != nil
	}
	changed := m.began.Packages(m.session)
	for pkg, of := range packages {
		key := m.key(pkg, budgets)
		if key == "" || faulty[pkg] {
			continue
		}
		if inputs, err := m.session.Inputs(pkg); err != nil || inputs != m.inputs[pkg] || changed(pkg) {
			continue // which content was measured is not known
		}
		files, ok := m.session.Reads(ctx, pkg) // may run them again
		if !ok {
			continue
		}
		d := report.New(m.session.Target, m.session.Toolchain, of, report.Run{Totals: []report.Total{}})
		if m.results.store(key, d, files, m.began.Changed) != nil {
			m.results.forget(key)
		}
	}
}

// confirm measures red benchmarks once more before anyone is told, and returns
// all samples with what became of theirs. Where a count was only remembered, the
// whole package is measured first.
func (m *memory) confirm(ctx context.Context, samples, red []gate.Sample, budgets gate.Budgets) ([]gate.Sample, error) {
	doubted := make(map[string]bool)
	for _, s := range red {
		doubted[s.Pkg] = slices.Contains(m.recalls, s.Pkg)
	}
	in := func(pkg string) bool { return doubted[pkg] }
	if slices.ContainsFunc(m.recalls, in) {
		m.recalls = slices.DeleteFunc(m.recalls, in)
		measured, err := m.session.RunSome(ctx, doubted, budgets, false)
		if err != nil {
			return nil, err
		}
		m.remember(ctx, measured, budgets)
		samples = append(slices.DeleteFunc(slices.Clone(samples), func(s gate.Sample) bool { return in(s.Pkg) }), measured...)
		slices.SortFunc(samples, func(a, b gate.Sample) int { return a.Compare(b.Key) })
	}
	var once []gate.Sample
	for _, s := range samples {
		if s.Fault == nil && slices.ContainsFunc(red, func(r gate.Sample) bool { return r.Key == s.Key }) {
			once = append(once, s)
		}
	}
	again, err := m.session.Again(ctx, once)
	return replaced(samples, again), err
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
