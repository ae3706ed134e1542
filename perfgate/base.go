package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/checkout"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

// A base is another commit of the user's repository, which the head's
// benchmarks are measured on too.
type base struct {
	repo   *checkout.Repo
	commit checkout.Commit
	tree   *measure.Session // nil if the commit as a whole cannot be measured
	unfit  string           // why it cannot

	head    *measure.Session
	verify  bool
	same    []string // packages whose test binaries are the head's
	results results
	keys    map[string]string           // of results, by package
	stored  map[string]*report.Document // results of an earlier run, by package
}

// baseFlag is the flag of commands that look at a merge base; what begins its
// explanation.
func baseFlag(o *options, fs *flag.FlagSet, what string) {
	fs.Func("base", what+" the merge base with `ref`; \"\" is origin/main or main", func(ref string) error {
		o.base, o.based = ref, true
		return nil
	})
}

// name is what texts call the base.
func (b *base) name() string { return "base " + b.commit.Short() }

// openBase finds the merge base, gets its files and looks at its packages and
// at what an earlier run measured of them. With verify nothing that was
// measured earlier is believed.
func openBase(ctx context.Context, s *measure.Session, o *options) (*base, error) {
	b, err := findBase(ctx, s, o)
	if err != nil {
		return nil, err
	}
	b.tree, err = openTree(ctx, s, b.repo, b.commit, "b00")
	if unfit, ok := errors.AsType[measure.ErrUnfit](err); ok {
		b.unfit = fmt.Sprintf("%s cannot be measured: %v", b.name(), unfit)
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	if err := b.findSame(ctx, o); err != nil {
		return nil, err
	}
	b.loadResults(o)
	return b, nil
}

// findBase finds the commit.
func findBase(ctx context.Context, s *measure.Session, o *options) (*base, error) {
	repo, err := checkout.Open(ctx, o.request.Dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.MergeBase(ctx, o.base)
	if err != nil {
		return nil, fmt.Errorf("-base %q: %w", o.base, err)
	}
	return &base{
		repo: repo, commit: commit, head: s, verify: o.verify,
		results: results{filepath.Join(s.Go.Cache, "base")},
		keys:    make(map[string]string), stored: make(map[string]*report.Document),
	}, nil
}

// openTree gets the files of a commit and opens a session on them beside s.
// name has three letters, others for each tree.
func openTree(ctx context.Context, s *measure.Session, repo *checkout.Repo, commit checkout.Commit, name string) (*measure.Session, error) {
	t := measure.Tree{Name: name, Root: repo.Root, Mirror: filepath.Join(s.Scratch(), "tree-"+name)}
	if err := repo.Extract(ctx, commit, t.Dir(), filepath.Join(s.Scratch(), "index-"+name)); err != nil {
		return nil, err
	}
	tracked, err := repo.Tracks(ctx, s.Go.Work)
	if err != nil {
		return nil, err
	}
	t.LocalWork = !tracked
	return s.Beside(ctx, t)
}

// findSame finds the packages for which there is nothing to measure, and drops
// them from the head. Who asks for counts made now gets those.
func (b *base) findSame(ctx context.Context, o *options) error {
	if o.fresh || b.verify {
		return nil
	}
	changed, err := b.repo.Changed(ctx, b.commit)
	if err != nil {
		return err
	}
	for i, c := range changed {
		changed[i] = filepath.Join(b.repo.Root, filepath.FromSlash(c))
	}
	same, err := b.head.Same(b.tree, changed)
	if err != nil || len(same) == 0 {
		return err
	}
	if len(changed) > 0 || o.request.Bench != "" || o.request.Skip != "" {
		// What benchmarks read, and whether the selection selects any, can
		// only be known when they ran.
		if _, _, err := b.head.Leaves(ctx); err != nil {
			return err
		}
	}
	b.same = slices.DeleteFunc(same, func(pkg string) bool {
		if len(changed) == 0 {
			return false
		}
		read, ok := b.head.Reads(ctx, pkg)
		return !ok || readsAny(read, changed)
	})
	b.head.Drop(b.same)
	return nil
}

// readsAny reports whether one of the changed files, or the folder that it is
// in, was looked at.
func readsAny(read, changed []string) bool {
	return slices.ContainsFunc(read, func(r string) bool {
		r = measure.Resolve(r)
		return slices.ContainsFunc(changed, func(c string) bool { return c == r || filepath.Dir(c) == r || underAny(r, c) })
	})
}

// loadResults looks for results of an earlier run.
func (b *base) loadResults(o *options) {
	if !o.request.Flags.Exact() {
		return
	}
	for _, p := range b.tree.Packages {
		if slices.Contains(b.same, p.ImportPath) {
			continue // the head has nothing that would need them
		}
		inputs, err := b.tree.Inputs(p.ImportPath)
		if err != nil {
			continue // it does not compile as it is
		}
		b.keys[p.ImportPath] = resultKey("base", b.commit.Hash, inputs)
		if d := b.results.load(b.keys[p.ImportPath]); d != nil && !o.fresh && !b.verify {
			b.stored[p.ImportPath] = d
		}
	}
}

// exponents returns budgets that name the K to measure the head with: those of
// stored results, which have to be compared with, else the file's.
func (b *base) exponents(file gate.Budgets) gate.Budgets {
	k := gate.Budgets{Rows: make(map[gate.Key]gate.Budget)}
	for key, r := range file.Rows {
		if b.stored[key.Pkg] == nil {
			k.Rows[key] = r
		}
	}
	for _, d := range b.stored {
		for _, s := range d.Samples() {
			k.Rows[s.Key] = gate.Budget{Ir: s.IrPerOp, K: s.K}
		}
	}
	return k
}

// budgets measures the base as the head was measured, what is stored excepted,
// and makes budgets of it. Limits come from file.
func (b *base) budgets(ctx context.Context, samples []gate.Sample, file gate.Budgets) (gate.Budgets, error) {
	if b.tree == nil {
		return gate.Budgets{Base: b.name(), Missing: b.unfit}, nil
	}
	var missing, found []gate.Sample
	for _, s := range samples {
		if d := b.stored[s.Pkg]; d != nil && slices.Contains(d.Uncounted(), s.Key) {
			delete(b.stored, s.Pkg) // the head has a benchmark again that it once had not
		}
	}
	for _, s := range samples {
		if b.stored[s.Pkg] == nil {
			missing = append(missing, s)
		}
	}
	side, err := b.tree.RunLike(ctx, missing, b.verify)
	if err != nil {
		return gate.Budgets{}, fmt.Errorf("%s: %w", b.name(), err)
	}
	b.storeResults(ctx, missing, side)
	found = side.Samples
	for _, d := range b.stored {
		found = append(found, d.Samples()...)
	}
	budgets := gate.Measured(found, b.name(), file)
	if head, err := b.repo.Find(ctx, "HEAD"); err == nil && head == b.commit {
		budgets.Notes = append(budgets.Notes, "HEAD is the base itself: only what is not committed is compared")
	}
	budgets.Exact, budgets.Same = file.Exact, b.same
	for k, apart := range side.Apart {
		if apart.New {
			budgets.Lack(k, apart.Reason)
		} else {
			budgets.Refuse(k, fmt.Sprintf("%s: %s", b.name(), firstLine(apart.Reason)))
		}
	}
	for _, k := range side.Gone {
		budgets.Had(k)
	}
	for _, d := range b.stored {
		for _, k := range d.Uncounted() {
			budgets.Had(k)
		}
	}
	for _, pkg := range b.same {
		for _, k := range b.tree.Gone(pkg) {
			budgets.Had(k)
		}
	}
	return budgets, b.accept(ctx, &budgets)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// storeResults keeps what was measured of packages that have no fault there. A
// result that cannot be kept is measured again the next time: one of which
// something outside of the tree, where links and paths may lead, changed since the
// command began.
func (b *base) storeResults(ctx context.Context, measured []gate.Sample, side measure.Side) {
	whole := make(map[string]bool)
	for _, s := range measured {
		whole[s.Pkg] = true
	}
	for _, s := range side.Samples {
		whole[s.Pkg] = whole[s.Pkg] && s.Fault == nil
	}
	for k, apart := range side.Apart {
		whole[k.Pkg] = whole[k.Pkg] && apart.New && apart.Reason == ""
	}
	began := measure.Began(b.head.Scratch())
	changed := began.Packages(b.tree)
	for pkg := range whole {
		key := b.keys[pkg]
		if !whole[pkg] || key == "" || changed(pkg) {
			continue
		}
		files, ok := b.tree.Reads(ctx, pkg) // may run them again
		if !ok {
			continue
		}
		samples := slices.DeleteFunc(slices.Clone(side.Samples), func(s gate.Sample) bool { return s.Pkg != pkg })
		d := report.New(b.tree.Target, b.tree.Toolchain, samples, report.Run{Totals: []report.Total{}})
		for _, k := range side.Gone {
			if k.Pkg == pkg {
				d.AddUncounted(k)
			}
		}
		if b.results.store(key, d, files, began.Changed) != nil {
			b.results.forget(key)
		}
	}
}

// confirm measures the benchmarks of red rows on the base once more. Where a
// stored result does not repeat, it is forgotten and its package measured anew;
// where what was measured now does not, the benchmark is unstable, and its
// sample says so.
func (b *base) confirm(ctx context.Context, samples, red []gate.Sample, budgets, file gate.Budgets) ([]gate.Sample, gate.Budgets, error) {
	side, err := b.tree.RunLike(ctx, red, false)
	if err != nil {
		return samples, budgets, fmt.Errorf("%s: %w", b.name(), err)
	}
	again := make(map[gate.Key]gate.Sample)
	for _, s := range side.Samples {
		again[s.Key] = s
	}
	wrong := false
	for _, r := range red {
		was := budgets.Rows[r.Key]
		s, ok := again[r.Key]
		if ok && s.Fault == nil && s.IrPerOp == was.Ir && s.AllocsPerOp == was.Allocs && s.BytesPerOp == was.Bytes {
			continue
		}
		if b.stored[r.Pkg] != nil {
			b.results.forget(b.keys[r.Pkg])
			delete(b.stored, r.Pkg)
			wrong = true
			continue
		}
		twice := fmt.Sprintf("%v and %v Ir/op in two runs of %s", was.Ir, s.IrPerOp, b.name())
		if !ok || s.Fault != nil {
			twice = fmt.Sprintf("%v Ir/op in the first run of %s, none in the second", was.Ir, b.name())
		}
		for i := range samples {
			if samples[i].Key == r.Key && samples[i].Fault == nil {
				samples[i].Fault = &gate.Fault{Verdict: gate.Unstable, Reason: twice}
			}
		}
	}
	if wrong {
		budgets, err = b.budgets(ctx, samples, file)
	}
	return samples, budgets, err
}

// accept widens the limits that the branch's commits ask for, and notes those that
// do not help.
func (b *base) accept(ctx context.Context, budgets *gate.Budgets) error {
	trailers, err := b.repo.Trailers(ctx, b.commit, gate.AcceptTrailer)
	if err != nil {
		return err
	}
	for _, t := range trailers {
		a, err := gate.ParseAcceptance(t.Value)
		if err == nil {
			err = measure.CheckPattern(a.Pattern)
		}
		from := fmt.Sprintf("%s of %s", gate.AcceptTrailer, t.Short())
		if t.Astray {
			if err == nil { // or it is a sentence
				budgets.Notes = append(budgets.Notes, fmt.Sprintf("%s accepts nothing: %q is not in a last paragraph of trailers alone", from, t.Value))
			}
			continue
		}
		if err != nil {
			budgets.Notes = append(budgets.Notes, fmt.Sprintf("%s is not understood and accepts nothing: %q: %v", from, t.Value, err))
			continue
		}
		match := func(k gate.Key) bool { return measure.Match(a.Pattern, k.Name) }
		if budgets.Accept(match, a.Limit, fmt.Sprintf("%s: %q", from, a.Reason)) == 0 {
			budgets.Notes = append(budgets.Notes, fmt.Sprintf("%s: no benchmark that was compared matches %q", from, a.Pattern))
		}
	}
	return nil
}

// budgetChanges returns the rows of the budget file that the branch changes.
func (b *base) budgetChanges(ctx context.Context, file *gate.File, path string) ([]gate.BudgetChange, error) {
	real, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, nil // there is no such folder, and no file
	}
	rel, err := filepath.Rel(b.repo.Root, filepath.Join(real, filepath.Base(path)))
	if err != nil || !filepath.IsLocal(rel) {
		return nil, nil
	}
	text, found, err := b.repo.File(ctx, b.commit, filepath.ToSlash(rel))
	if err != nil {
		return nil, err
	}
	old := new(gate.File)
	if found {
		if old, err = gate.ParseFile(text); err != nil {
			return nil, nil // nobody can read it there either
		}
	}
	return gate.DiffFiles(old, file), nil
}
