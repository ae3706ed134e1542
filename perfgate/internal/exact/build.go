package exact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Package is a package with test files, as go list sees it.
type Package struct {
	ImportPath string
	Dir        string
	ModFile    string      // go.mod of its module, "" without one
	CGO        bool        // a package outside the standard library in its tests' import graph uses cgo
	Benchmarks []Benchmark // its benchmark functions, also those of files that the build leaves out
	Err        string      // why it cannot be built, as far as go list knows

	// Dirs are the import paths of the packages that its test binary is made of,
	// by folder, but for the standard library's.
	Dirs map[string]string

	inputs inputs
}

// A Benchmark is a function in a test file that looks like a benchmark.
type Benchmark struct {
	Name string // with "Benchmark"
	File string
	Line int
}

// Flags are what a user asks of the build, spelled as go test has them, and the
// cures that the user switches off for benchmarks which cannot run with them.
type Flags struct {
	Tags     string   // comma-separated
	GCFlags  []string // each as the flag takes it; of several the last that matches a package counts
	Sysmon   bool     // with the runtime's monitor thread
	Realtime bool     // with the real clock
}

// Exact reports whether counts of programs built so repeat.
func (f Flags) Exact() bool { return !f.Sysmon && !f.Realtime }

// Packages lists the packages that match the patterns, in the order of their
// import paths. It fails if none does.
//
// A package is listed as it is built, see [Package.CGO]: with other files than
// that, and what they import, it is another package.
//
// The packages that the user named are those of the first call: later ones, also
// of [Go.In], list some of them again.
func (g *Go) Packages(ctx context.Context, f Flags, patterns []string) ([]Package, error) {
	cgo := os.Getenv("CGO_ENABLED") != "0"
	all, err := g.list(ctx, f, cgo, patterns)
	if err != nil {
		return nil, err
	}
	paths := all.matches()
	if len(paths) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	if g.named == nil {
		g.named = paths
	}
	graphs := make(map[string][]*listed)
	var unlike []string
	for _, path := range paths {
		graphs[path] = all.graph(path)
		if cgo && !usesCgo(graphs[path]) && slices.ContainsFunc(graphs[path], (*listed).mindsCgo) {
			unlike = append(unlike, path)
		}
	}
	if len(unlike) > 0 {
		without, err := g.list(ctx, f, false, unlike)
		if err != nil {
			return nil, err
		}
		for _, path := range unlike {
			all[path], all[path+".test"] = without[path], without[path+".test"]
			graphs[path] = without.graph(path)
		}
	}
	var found []Package
	for _, path := range paths {
		p, err := all.newPackage(path, graphs[path])
		if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		found = append(found, p)
		p.inputs.readStandard()
	}
	return found, nil
}

// A listing is what go list says of packages and all that they and their tests
// import, by import path.
type listing map[string]*listed

type listed struct {
	inputPackage
	ForTest                           string
	DepOnly                           bool
	Deps                              []string
	IgnoredGoFiles, IgnoredOtherFiles []string
	Error                             *listError
	DepsErrors                        []*listError

	minds *bool // what mindsCgo found
}

func (g *Go) list(ctx context.Context, f Flags, cgo bool, patterns []string) (listing, error) {
	args := slices.Concat([]string{"list", "-e", "-test", "-deps", "-tags=" + g.tags(f),
		"-json=DepOnly,ForTest,Deps,IgnoredGoFiles,IgnoredOtherFiles,Error,DepsErrors," + inputFields}, []string{"--"}, patterns)
	out, err := g.run(ctx, cgoEnv(cgo), args...)
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", explain(err, out))
	}
	l := make(listing)
	d := json.NewDecoder(strings.NewReader(string(out.Stdout)))
	for {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return l, nil
		} else if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		p.sum = sync.OnceValues(func() (string, error) { return p.hash(g.ModCache) })
		l[p.ImportPath] = p
	}
}

// matches returns the import paths of the packages that the patterns match,
// sorted.
func (l listing) matches() (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(l)) {
		if p := l[path]; !p.DepOnly && p.ForTest == "" && !strings.HasSuffix(path, ".test") {
			paths = append(paths, path)
		}
	}
	return paths
}

// graph returns all that a package's test binary is made of, by import path.
func (l listing) graph(path string) []*listed {
	var all []string
	for _, root := range []string{path, path + ".test"} {
		if p := l[root]; p != nil {
			all = append(append(all, root), p.Deps...)
		}
	}
	slices.Sort(all)
	var graph []*listed
	for _, dep := range slices.Compact(all) {
		if p := l[dep]; p != nil {
			graph = append(graph, p)
		}
	}
	return graph
}

// usesCgo reports whether a package outside the standard library uses cgo.
func usesCgo(graph []*listed) bool {
	return slices.ContainsFunc(graph, func(p *listed) bool { return !p.Standard && len(p.CgoFiles) > 0 })
}

var cgoConstraint = regexp.MustCompile(`(?m)^\s*//\s*(go:|\+)build\b.*\bcgo\b`)

// mindsCgo reports whether a package, listed with cgo, may get other files
// without, or lose what is wrong. Files that it only loses do no harm.
func (p *listed) mindsCgo() bool {
	if p.minds != nil {
		return *p.minds
	}
	minds := len(p.CgoFiles) > 0 || p.Error != nil
	if !minds && !p.Standard {
		minds = slices.ContainsFunc(slices.Concat(p.IgnoredGoFiles, p.IgnoredOtherFiles), func(f string) bool {
			text, err := os.ReadFile(filepath.Join(p.Dir, f))
			return err != nil || bytes.Contains(text, []byte("cgo")) && cgoConstraint.Match(text)
		})
	}
	p.minds = &minds
	return minds
}

// newPackage returns what a package is that the patterns match.
func (l listing) newPackage(path string, graph []*listed) (Package, error) {
	p, test := l[path], l[path+".test"]
	if p == nil {
		return Package{}, fmt.Errorf("go list does not know %s without cgo", path)
	}
	q := Package{ImportPath: path, Dir: p.Dir, CGO: usesCgo(graph), Dirs: make(map[string]string)}
	if p.Module != nil {
		q.ModFile = p.Module.GoMod
	}
	for _, dep := range graph {
		q.inputs = append(q.inputs, &dep.inputPackage)
		if !dep.Standard && dep.ForTest == "" && dep != test { // which has the folder of path
			// "path [command]" is a package built for that command's profile.
			q.Dirs[dep.Dir], _, _ = strings.Cut(dep.ImportPath, " ")
		}
	}
	if _, err := os.Stat(p.Dir); p.Error != nil && err != nil {
		return Package{}, errors.New(strings.TrimSpace(p.Error.Err))
	}
	switch {
	case p.Error != nil:
		q.Err = p.Error.String()
	case len(p.DepsErrors) > 0:
		q.Err = p.DepsErrors[0].String()
	case test != nil && test.Error != nil:
		q.Err = test.Error.String()
	case test != nil && len(test.DepsErrors) > 0:
		q.Err = test.DepsErrors[0].String()
	}
	if q.Dir == "" {
		return q, nil
	}
	var err error
	q.Benchmarks, err = benchmarkFunctions(q.Dir)
	return q, err
}

// listError is an error as go list reports it.
type listError struct{ Pos, Err string }

func (e *listError) String() string {
	text := strings.TrimSpace(e.Err)
	if e.Pos == "" || strings.HasPrefix(text, e.Pos) {
		return text
	}
	return e.Pos + ": " + text
}

var benchmarkFunc = regexp.MustCompile(`(?m)^func\s+(Benchmark[_\pL\p{Nd}]*)\s*\(`)

// benchmarkFunctions returns the functions in the test files of a folder that
// look like benchmarks: what can be measured is among them.
func benchmarkFunctions(dir string) ([]Benchmark, error) {
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*_test.go"))
	if err != nil {
		return nil, err
	}
	var found []Benchmark
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for _, m := range benchmarkFunc.FindAllSubmatchIndex(text, -1) {
			found = append(found, Benchmark{string(text[m[2]:m[3]]), f, 1 + bytes.Count(text[:m[2]], []byte("\n"))})
		}
	}
	return found, nil
}

func escapeGlob(dir string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(dir, `\$0`)
}

func (g *Go) tags(f Flags) string {
	t := f.Tags
	if t == "" {
		return g.Flag("tags")
	}
	return t
}

// Build compiles the test binary of a package for exact counts, as binary. The
// error is what the compiler printed.
//
// The linker leaves out DWARF: the code is the same, and valgrind starts faster.
func (g *Go) Build(ctx context.Context, o *Overlay, p Package, f Flags, binary string) error {
	return g.build(ctx, o, p, f, binary, "-w")
}

// BuildLines compiles the same program with line numbers, and with the full
// paths of its source files.
func (g *Go) BuildLines(ctx context.Context, o *Overlay, p Package, f Flags, binary string) error {
	return g.build(ctx, o, p, f, binary, "-s=0 -w=0", "-trimpath=0")
}

func (g *Go) build(ctx context.Context, o *Overlay, p Package, f Flags, binary, ldflags string, more ...string) error {
	args := []string{"test", "-c", "-vet=off", "-o", binary, "-overlay=" + o.File, "-tags=" + g.tags(f),
		"-ldflags=" + strings.TrimSpace(g.Flag("ldflags")+" "+ldflags)}
	args = append(args, more...)
	args = append(args, g.packageFlags(f, p)...)
	out, err := g.run(ctx, cgoEnv(p.CGO), append(args, p.ImportPath)...)
	if err != nil {
		return explain(err, out)
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("go test -c made no binary: %s", strings.TrimSpace(string(out.Stderr)))
	}
	return nil
}

func cgoEnv(on bool) []string {
	if on {
		return []string{"CGO_ENABLED=1"}
	}
	return []string{"CGO_ENABLED=0"}
}
