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
func (g *Go) Packages(ctx context.Context, f Flags, patterns []string) ([]Package, error) {
	args := slices.Concat([]string{"list", "-e", "-test", "-deps", "-tags=" + g.tags(f),
		"-json=ImportPath,DepOnly,ForTest,Deps,Error,DepsErrors," + inputFields}, []string{"--"}, patterns)
	out, err := g.run(ctx, []string{"CGO_ENABLED=1"}, args...)
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", explain(err, out))
	}
	type listed struct {
		inputPackage
		ImportPath, ForTest string
		DepOnly             bool
		Deps                []string
		Error               *listError
		DepsErrors          []*listError
	}
	byPath := make(map[string]*listed)
	d := json.NewDecoder(strings.NewReader(string(out.Stdout)))
	for {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		byPath[p.ImportPath] = p
	}
	allowed := os.Getenv("CGO_ENABLED") != "0"
	var found []Package
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		p := byPath[path]
		if p.DepOnly || p.ForTest != "" || strings.HasSuffix(path, ".test") {
			continue
		}
		q := Package{ImportPath: path, Dir: p.Dir, Dirs: make(map[string]string)}
		if p.Module != nil {
			q.ModFile = p.Module.GoMod
		}
		deps := append(p.Deps, path)
		test := byPath[path+".test"]
		if test != nil {
			deps = append(append(deps, test.Deps...), path+".test")
		}
		for _, dep := range deps {
			l := byPath[dep]
			if l == nil || l.Standard {
				continue
			}
			if len(l.CgoFiles) > 0 {
				q.CGO = allowed
			}
			if l.ForTest == "" && dep != path+".test" { // which has the folder of path
				// "path [command]" is a package built for that command's profile.
				q.Dirs[l.Dir], _, _ = strings.Cut(dep, " ")
			}
			q.inputs.add(dep, &l.inputPackage, g.ModCache)
		}
		if _, err := os.Stat(p.Dir); p.Error != nil && err != nil {
			return nil, fmt.Errorf("listing packages: %s", strings.TrimSpace(p.Error.Err))
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
		if q.Dir != "" {
			if q.Benchmarks, err = benchmarkFunctions(q.Dir); err != nil {
				return nil, err
			}
		}
		found = append(found, q)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	return found, nil
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
		t = g.flag("tags")
	}
	if f.Realtime {
		return t
	}
	return strings.TrimPrefix(t+",faketime", ",")
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
		"-ldflags=" + strings.TrimSpace(g.flag("ldflags")+" "+ldflags)}
	args = append(args, more...)
	for _, flags := range f.GCFlags {
		args = append(args, "-gcflags="+flags)
	}
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
