package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// A Tree is the files of another commit of the user's repository, in a folder
// of ours.
type Tree struct {
	Name   string // three letters, another for each tree beside one session
	Root   string // top folder of the user's repository, without symbolic links
	Mirror string // the commit's files are in the folder Root below this one

	// LocalWork says that the user's go.work is in no commit: it is how this
	// machine is set up, and holds for the tree, too.
	LocalWork bool
}

// Dir returns where the commit's files are. With the whole path of Root in it
// relative paths that lead out of the repository have a place to lead to.
func (t Tree) Dir() string { return filepath.Join(t.Mirror, t.Root) }

// of returns what a path in the user's repository is in the tree, and false for
// a path outside of it.
func (t Tree) of(path string) (string, bool) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(t.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.Join(t.Dir(), rel), true
}

// Beside opens a session that measures what s measures, in another tree, the
// same way: with s's toolchain, settings and overlay. The packages have the
// test files and the testdata that they have in s's tree, and the tree's own
// give way; go.mod and all else is the tree's.
//
// Nothing is measured yet. Of two sessions beside each other only one may
// measure at a time.
func (s *Session) Beside(ctx context.Context, t Tree) (*Session, error) {
	c := &Session{
		Target: s.Target, Toolchain: s.Toolchain,
		req: s.req, counter: s.counter, identity: s.identity, scratch: s.scratch, overlay: s.overlay, progress: s.progress, starts: s.starts, side: t.Name, aside: "on the base: ",
		laid: make(map[string]*laidTests), binaries: make(map[string]exact.Binary), leaves: make(map[gate.Key]leaf),
		apart: make(map[string]Apart), reads: make(map[string]reads),
	}
	if t.lacks(s.Go.ModFile) {
		for _, p := range s.Packages {
			c.apart[p.ImportPath] = t.newModule(p.Dir)
		}
		return c, nil
	}
	if err := c.moveGo(ctx, s.Go, t); err != nil {
		return nil, err
	}
	laid := make(map[string]*laidTests) // by folder
	c.req.Patterns = nil
	for _, p := range s.Packages {
		if p.Err != "" {
			continue
		}
		dir, inside := t.of(p.Dir)
		if !inside {
			c.req.Patterns = append(c.req.Patterns, p.ImportPath)
			continue
		}
		if t.lacks(p.ModFile) {
			c.apart[p.ImportPath] = t.newModule(p.Dir)
			continue
		}
		if !exists(dir) && hasCode(p.Dir) {
			c.apart[p.ImportPath] = Apart{New: true, Reason: "its package is new"}
			continue
		}
		l, err := layTests(p.Dir, dir)
		if err != nil {
			return nil, err
		}
		laid[dir] = l
		c.req.Patterns = append(c.req.Patterns, dir)
	}
	if len(c.req.Patterns) == 0 {
		return c, nil
	}
	var err error
	if c.Listed, err = c.Go.Packages(ctx, c.req.Flags, c.req.Patterns); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil && process.Trouble(err.Error()) {
		return nil, err
	} else if err != nil {
		return nil, ErrUnfit{err}
	}
	for _, p := range s.Packages {
		dir, _ := t.of(p.Dir)
		i := slices.IndexFunc(c.Listed, func(q exact.Package) bool { return q.ImportPath == p.ImportPath })
		if j := slices.IndexFunc(c.Listed, func(q exact.Package) bool { return dir != "" && q.Dir == dir }); i < 0 && j >= 0 {
			c.apart[p.ImportPath] = Apart{Reason: "the package in its folder is called " + c.Listed[j].ImportPath + " there"}
		}
		if i >= 0 {
			c.laid[p.ImportPath] = laid[dir]
		}
	}
	c.Packages = slices.DeleteFunc(slices.Clone(c.Listed), func(q exact.Package) bool {
		return !slices.ContainsFunc(s.Packages, func(p exact.Package) bool { return p.ImportPath == q.ImportPath })
	})
	return c, nil
}

// ErrUnfit is the error of a tree whose packages the head's toolchain cannot
// even list.
type ErrUnfit struct{ Err error }

func (e ErrUnfit) Error() string { return e.Err.Error() }
func (e ErrUnfit) Unwrap() error { return e.Err }

// moveGo makes c.Go the toolchain g in the tree, and gives relative paths of
// its go.mod and go.work that leave the repository something to find.
func (c *Session) moveGo(ctx context.Context, g *exact.Go, t Tree) error {
	dir, inside := t.of(c.req.Dir)
	if !inside {
		return fmt.Errorf("%s is not in the repository %s", c.req.Dir, t.Root)
	}
	// The folder may be new, and still its packages are named from there.
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	c.req.Dir = dir
	modFile, inside := t.of(g.ModFile)
	if g.ModFile != "" && !inside {
		return fmt.Errorf("%s is not in the repository %s", g.ModFile, t.Root)
	}
	work, copied, err := t.work(g.Work)
	if err != nil {
		return err
	}
	c.Go = g.In(dir, modFile, work)
	if modFile != "" {
		if _, err := c.place(ctx, t, modFile, false); err != nil {
			return err
		}
	}
	if work == "" || work == workOff {
		return nil
	}
	used, err := c.place(ctx, t, work, copied)
	for _, dir := range used {
		if f := filepath.Join(dir, "go.mod"); err == nil && f != modFile && exists(f) {
			_, err = c.place(ctx, t, f, false)
		}
	}
	return err
}

// workOff is what GOWORK is without a workspace.
const workOff = "off"

// work returns the go.work file that takes the place of the user's own in the
// tree. copied is true for a copy of that.
func (t Tree) work(own string) (file string, copied bool, err error) {
	if own == "" {
		return "", false, nil
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(own)); err == nil {
		own = filepath.Join(dir, filepath.Base(own))
	}
	file = filepath.Join(t.Mirror, own)
	_, inside := t.of(own)
	switch {
	case inside && exists(file):
		return file, false, nil
	case inside && !t.LocalWork:
		return workOff, false, nil // the tree is from before the workspace
	}
	if err := copyFile(own, file); err != nil {
		return "", false, err
	}
	if err := copyFile(own+".sum", file+".sum"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	return file, true, t.link(filepath.Join(filepath.Dir(file), "vendor"))
}

// place gives the local paths of a go.mod or go.work file in the tree something
// to find: the tree's own files instead of the repository's, and links to what
// is outside of it. It returns the folders of go.work's modules. From a copy of
// the user's go.work modules that the tree has not are removed.
func (c *Session) place(ctx context.Context, t Tree, file string, copied bool) (used []string, err error) {
	paths, err := c.Go.LocalPaths(ctx, file)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		dir := p.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(file), dir)
		} else if mirrored, inside := t.of(dir); inside {
			if !t.has(file) {
				return nil, ErrUnfit{fmt.Errorf("%s names %s by its absolute path", file, p.Path)}
			}
			if err := c.Go.SetLocalPath(ctx, file, p, mirrored); err != nil {
				return nil, err
			}
			dir, p.Path = mirrored, mirrored
		}
		if err := t.link(dir); err != nil {
			return nil, err
		}
		switch {
		case p.Replaces != "":
		case copied && !exists(filepath.Join(dir, "go.mod")):
			if err := c.Go.SetLocalPath(ctx, file, p, ""); err != nil {
				return nil, err
			}
		default:
			used = append(used, dir)
		}
	}
	return used, nil
}

// has reports whether a file is a copy of ours, not a file of the user's behind
// a link.
func (t Tree) has(file string) bool {
	mirror, err := filepath.EvalSymlinks(t.Mirror)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(file)
	return err == nil && inside(mirror, real)
}

// lacks reports whether a file of the repository is not in the tree.
func (t Tree) lacks(file string) bool {
	old, inside := t.of(file)
	return file != "" && inside && !exists(old)
}

// newModule says what becomes of a package in a folder of a module that the
// tree does not have.
func (t Tree) newModule(dir string) Apart {
	if old, _ := t.of(dir); hasCode(old) {
		return Apart{Reason: "its module is new, and its folder was there"}
	}
	return Apart{New: true, Reason: "its module is new"}
}

// link makes path, if it is in the mirror but not in the tree, a symbolic link to
// what it mirrors.
func (t Tree) link(path string) error {
	rel, err := filepath.Rel(t.Mirror, path)
	if in, err2 := filepath.Rel(t.Dir(), path); err != nil || !filepath.IsLocal(rel) || err2 == nil && filepath.IsLocal(in) || exists(path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.Symlink(string(filepath.Separator)+rel, path)
}

// Apart says why benchmarks of one side have nothing to be compared with on the
// other.
type Apart struct {
	New    bool // there is nothing on the other side; else there is, and it does not compare
	Reason string
}

// Same returns the import paths of packages whose test binaries are the same in
// both sessions, but for the paths of the source, and whose folders have none of
// the changed files, which are absolute paths of s's tree. Those with cgo are not
// among them: what a C compiler reads nobody can tell.
func (s *Session) Same(other *Session, changed []string) ([]string, error) {
	var same []string
	for _, p := range s.Packages {
		i := slices.IndexFunc(other.Packages, func(q exact.Package) bool { return q.ImportPath == p.ImportPath })
		if i < 0 || p.Err != "" || other.Packages[i].Err != "" || p.CGO || other.Packages[i].CGO {
			continue
		}
		a, err := p.Inputs()
		if err != nil {
			return nil, err
		}
		b, err := other.Packages[i].Inputs()
		if err != nil {
			return nil, err
		}
		dir, err := filepath.EvalSymlinks(p.Dir)
		if err != nil {
			return nil, err
		}
		if a == b && !slices.ContainsFunc(changed, func(c string) bool { return hasData(dir, c) }) {
			same = append(same, p.ImportPath)
		}
	}
	return same, nil
}

// Inputs returns a hash of what decides the counts of a package's benchmarks,
// as far as it can be known before they run: the source of its test binary, the
// other files of its folder, and how it is built and run. Files elsewhere that
// benchmarks read are not in it: see [Session.Reads].
//
// It fails for packages with cgo: what a C compiler reads nobody can tell.
func (s *Session) Inputs(pkg string) (string, error) {
	for _, p := range s.Packages {
		if p.ImportPath != pkg {
			continue
		}
		source, err := p.Inputs()
		if err != nil {
			return "", err
		}
		if p.CGO {
			return "", fmt.Errorf("%s has cgo", pkg)
		}
		data, err := hashData(p.Dir)
		if err != nil {
			return "", err
		}
		settings, err := s.Go.BuildSettings()
		settings = append(settings, s.Go.PackageSettings(s.req.Flags, p)...)
		how := fmt.Sprintf("%+v %+v %q %q %q %q %q", s.Target, s.Toolchain, settings, s.req.Bench, s.req.Skip, s.req.Args, s.req.Env)
		return digestAll(pkg, p.Dir, source, data, s.overlay.Hash, s.identity, how), err
	}
	return "", fmt.Errorf("no package %s", pkg)
}

// Drop leaves packages out of what is measured.
func (s *Session) Drop(pkgs []string) {
	in := func(pkg string) bool { return slices.Contains(pkgs, pkg) }
	s.Packages = slices.DeleteFunc(slices.Clone(s.Packages), func(p exact.Package) bool { return in(p.ImportPath) })
	maps.DeleteFunc(s.leaves, func(k gate.Key, _ leaf) bool { return in(k.Pkg) })
	s.faults = slices.DeleteFunc(s.faults, func(f gate.Sample) bool { return in(f.Pkg) })
	s.dropped = true
}

// Place returns where the function of a benchmark stands, "" if nowhere: the
// file relative to the request's folder, if it is below.
func (s *Session) Place(k gate.Key) (file string, line int) {
	function, _, _ := strings.Cut("Benchmark"+k.Name, "/")
	for _, p := range s.Packages {
		for _, b := range p.Benchmarks {
			if p.ImportPath == k.Pkg && b.Name == function {
				return s.relative(b.File), b.Line
			}
		}
	}
	return "", 0
}

// A Side is what a session beside another has of the other's benchmarks.
type Side struct {
	Samples []gate.Sample      // of the benchmarks that both have
	Apart   map[gate.Key]Apart // benchmarks of the other that do not compare
	Gone    []gate.Key         // that the other has not, as far as its test files tell
}

// RunLike measures the benchmarks of samples as those were measured. Samples
// with a fault are left out.
//
// A benchmark that is broken here does not compare. What broke for trouble of
// the machine is an error instead: it may well compare.
func (s *Session) RunLike(ctx context.Context, samples []gate.Sample, verify bool) (Side, error) {
	side := Side{Apart: make(map[gate.Key]Apart)}
	wanted := make(map[gate.Key]gate.Sample)
	pkgs := make(map[string]bool)
	for _, x := range samples {
		if x.Fault == nil && !x.IsPackage() {
			wanted[x.Key] = x
			pkgs[x.Pkg] = true
		}
	}
	faults, err := s.prepareMissing(ctx, pkgs)
	if err != nil {
		return side, err
	}
	side.Samples = faults
	broken := make(map[string]string)
	for _, f := range faults {
		if f.IsPackage() {
			broken[f.Pkg] = f.Fault.Reason
		}
	}
	var leaves []leaf
	budgets := gate.Budgets{Rows: make(map[gate.Key]gate.Budget)}
	for _, k := range slices.SortedFunc(maps.Keys(wanted), gate.Key.Compare) {
		l, ok := s.leaves[k]
		apart, isApart := s.apart[k.Pkg]
		switch differs := s.laid[k.Pkg].differs(k); {
		case isApart:
			side.Apart[k] = apart
		case broken[k.Pkg] != "":
			side.Apart[k] = Apart{Reason: broken[k.Pkg]}
		case differs != "":
			side.Apart[k] = Apart{New: s.laid[k.Pkg].comparesSome(), Reason: differs}
		case !ok:
			side.Apart[k] = Apart{New: true}
		default:
			x := wanted[k]
			leaves = append(leaves, l)
			budgets.Rows[k] = gate.Budget{Ir: x.IrPerOp, K: x.K}
		}
	}
	for k := range s.leaves {
		if _, ok := wanted[k]; !ok && pkgs[k.Pkg] {
			side.Gone = append(side.Gone, k)
		}
	}
	for pkg := range pkgs {
		side.Gone = append(side.Gone, s.Gone(pkg)...)
	}
	measured, err := s.measureAll(ctx, leaves, budgets, verify)
	side.Samples = append(side.Samples, measured...)
	if err == nil {
		err = machineFault(side.Samples)
	}
	slices.SortFunc(side.Samples, func(a, b gate.Sample) int { return a.Compare(b.Key) })
	slices.SortFunc(side.Gone, gate.Key.Compare)
	return side, err
}

// machineFault returns an error for a fault that is the machine's.
func machineFault(samples []gate.Sample) error {
	for _, x := range samples {
		if x.Fault != nil && process.Trouble(x.Fault.Reason) {
			return fmt.Errorf("measuring %v: %s", x.Key, x.Fault.Reason)
		}
	}
	return nil
}

// Gone returns the selected benchmark functions that the tree's own test files of
// a package have, and those laid over them have not.
func (s *Session) Gone(pkg string) (gone []gate.Key) {
	match := newMatcher(s.req.Bench, s.req.Skip)
	for _, function := range s.laid[pkg].gone() {
		if match.mayContain(function) {
			gone = append(gone, gate.Key{Pkg: pkg, Name: strings.TrimPrefix(function, "Benchmark")})
		}
	}
	return gone
}

// prepareMissing prepares those of the packages that are not prepared yet, and
// returns the faults of all of them.
func (s *Session) prepareMissing(ctx context.Context, pkgs map[string]bool) ([]gate.Sample, error) {
	err := s.prepareThose(ctx, slices.DeleteFunc(slices.Clone(s.Packages), func(p exact.Package) bool { return !pkgs[p.ImportPath] }))
	return slices.DeleteFunc(slices.Clone(s.faults), func(f gate.Sample) bool { return !pkgs[f.Pkg] }), err
}
