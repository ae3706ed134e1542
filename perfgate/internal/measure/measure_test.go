package measure

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"ABC", "abc", 0},
		{"kitten", "sitting", 3}, {"Retreive", "Retrieve", 2}, {"größe", "grösse", 2}, {"ab", "ba", 2},
	}
	for _, test := range tests {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q): got %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("distance(%q, %q): got %d, want %d", test.b, test.a, got, test.want)
		}
	}
}

// listed is a module at /src whose packages are these, and a request from dir.
func listed(dir string, patterns []string, packages ...string) *Session {
	s := &Session{req: Request{Dir: dir, Patterns: patterns}}
	for _, p := range packages {
		rel, _ := strings.CutPrefix(p, "example.com/m")
		s.Listed = append(s.Listed, exact.Package{ImportPath: p, Dir: filepath.Join("/src", rel)})
	}
	return s
}

func TestImportPath(t *testing.T) {
	const m = "example.com/m"
	tests := []struct {
		dir, pattern string
		packages     []string
		want         string // "" for unknown
	}{
		{"/src", ".", []string{m}, m},
		{"/src", "./...", []string{m}, m + "/..."},
		{"/src", "./...", []string{m + "/a/b"}, m + "/..."},
		{"/src", "./a/...", []string{m + "/a/b"}, m + "/a/..."},
		{"/src", "./gone", []string{m + "/a/b"}, m + "/gone"},
		{"/src/a", ".", []string{m + "/a"}, m + "/a"},
		{"/src/a", "..", []string{m, m + "/a"}, m},
		{"/src/a", "../b/...", []string{m + "/b/c"}, m + "/b/..."},
		{"/src/a/b", "../../...", []string{m}, m + "/..."},
		{"/src", "/src/a", []string{m}, m + "/a"},
		{"/src", "/src/a/...", []string{m + "/a"}, m + "/a/..."},
		{"/src", "./...", nil, ""},
		{"/src", "/elsewhere/deep/down", []string{"m"}, ""},
	}
	for _, test := range tests {
		got, ok := listed(test.dir, nil, test.packages...).importPath(test.pattern)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%s in %s: got %q, %v, want %q", test.pattern, test.dir, got, ok, test.want)
		}
	}
}

func TestScope(t *testing.T) {
	const m = "example.com/m"
	tests := []struct {
		name        string
		dir         string
		patterns    []string
		packages    []string
		bench, skip string
		in, out     []string // "package name"
	}{
		{name: "this package", dir: "/src", packages: []string{m}, in: []string{m + " A", m + " A/b"}, out: []string{m + "/a A", m + "x A", "example.com A"}},
		{name: "all below", dir: "/src", patterns: []string{"./..."}, packages: []string{m}, in: []string{m + " A", m + "/gone A", m + "/a/b A"}, out: []string{m + "x A", "other.org/m A"}},
		{name: "below a folder", dir: "/src", patterns: []string{"./a/..."}, packages: []string{m + "/a"}, in: []string{m + "/a A", m + "/a/gone A"}, out: []string{m + " A", m + "/ab A", m + "/b A"}},
		{name: "import paths", dir: "/src", patterns: []string{m + "/a...", m + "/b"}, packages: []string{m + "/b"}, in: []string{m + "/a A", m + "/ab/c A", m + "/b A"}, out: []string{m + "/b/c A", m + " A"}},
		{name: "a dot is a dot", dir: "/src", patterns: []string{m}, packages: []string{m}, in: []string{m + " A"}, out: []string{"exampleXcom/m A"}},
		{name: "in the middle", dir: "/src", patterns: []string{m + "/.../bench"}, packages: []string{m + "/a/bench"}, in: []string{m + "/a/bench A", m + "/x/y/bench A"}, out: []string{m + "/a A"}},
		{name: "all", dir: "/src", patterns: []string{"all"}, packages: []string{m}, in: []string{m + " A"}, out: []string{m + "/gone A"}},
		{name: "selected", dir: "/src", patterns: []string{"./..."}, packages: []string{m}, bench: "A/b", skip: "Ab", in: []string{m + " A/b", m + " A/bc/d", m + "/gone XA/b"}, out: []string{m + " A", m + " A/c", m + " B/b", m + " Ab/b"}},
		{name: "nothing listed", dir: "/src", patterns: []string{"./..."}, out: []string{m + " A"}},
	}
	for _, test := range tests {
		s := listed(test.dir, test.patterns, test.packages...)
		s.req.Bench, s.req.Skip = test.bench, test.skip
		scope := s.Scope()
		for want, keys := range map[bool][]string{true: test.in, false: test.out} {
			for _, k := range keys {
				pkg, name, _ := strings.Cut(k, " ")
				if got := scope(gate.Key{Pkg: pkg, Name: name}); got != want {
					t.Errorf("%s: %s: got %v, want %v", test.name, k, got, want)
				}
			}
		}
	}
}

func functions(names ...string) []exact.Benchmark {
	var all []exact.Benchmark
	for _, name := range names {
		all = append(all, exact.Benchmark{Name: name})
	}
	return all
}

func TestSelectPackages(t *testing.T) {
	s := &Session{req: Request{Bench: "Sum/x", Skip: "Max$"}}
	s.Listed = []exact.Package{
		{ImportPath: "a", Benchmarks: functions("BenchmarkSum")},
		{ImportPath: "b", Benchmarks: functions("BenchmarkOther", "BenchmarkSumMax")},
		{ImportPath: "c", Benchmarks: functions("BenchmarkOther", "BenchmarkSums"), Err: "does not compile"},
		{ImportPath: "d"},
	}
	var got []string
	for _, p := range s.selectPackages() {
		got = append(got, p.ImportPath)
	}
	if want := []string{"a", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothing(t *testing.T) {
	s := listed("/src", nil, "example.com/m")
	if got, want := s.nothing(nil), (ErrNothing{Message: "no benchmarks in ."}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s.req = Request{Bench: "Retreive", Skip: "x", Patterns: []string{"./a", "./b"}}
	s.Listed[0].Benchmarks = functions("BenchmarkStore", "BenchmarkRetrieve", "BenchmarkOpen", "BenchmarkSeal", "BenchmarkA", "BenchmarkB", "BenchmarkStore")
	want := ErrNothing{
		Message: `no benchmark in ./a ./b matches -bench "Retreive" and not -skip "x"`,
		Hint:    "the nearest are: Retrieve, Store, Open, Seal, A",
	}
	if got := s.nothing(nil); got != want {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func TestParallel(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 3, 100} {
		var running, most, done atomic.Int64
		jobs := make([]func(context.Context) error, 20)
		for i := range jobs {
			jobs[i] = func(context.Context) error {
				now := running.Add(1)
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				done.Add(1)
				running.Add(-1)
				return nil
			}
		}
		if err := parallel(t.Context(), n, jobs...); err != nil || done.Load() != 20 || most.Load() > int64(max(n, 1)) {
			t.Errorf("n=%d: got %d done, at most %d at once, %v", n, done.Load(), most.Load(), err)
		}
	}
	if err := parallel(t.Context(), 2); err != nil {
		t.Errorf("no jobs: got %v", err)
	}
	want := errors.New("first")
	var after atomic.Int64
	jobs := []func(context.Context) error{
		func(context.Context) error { return want },
		func(ctx context.Context) error { after.Add(1); return ctx.Err() },
		func(ctx context.Context) error { after.Add(1); return ctx.Err() },
		func(ctx context.Context) error { after.Add(1); return ctx.Err() },
	}
	if err := parallel(t.Context(), 1, jobs...); err != want || after.Load() > 1 {
		t.Errorf("got %v, %d started after it, want %v", err, after.Load(), want)
	}
}

func TestCompilerText(t *testing.T) {
	got := compilerText("# example.com/m [example.com/m.test]\n./a_test.go:3:1: syntax error\n# other\n./b.go:1:1: x\n")
	if want := "./a_test.go:3:1: syntax error\n./b.go:1:1: x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestList lists with programs that stand in for test binaries.
func TestList(t *testing.T) {
	result := func(name string) string { return string(output("Benchmark"+name, 1, 0, 0, false)) }
	pass, fail := string(frame("perfgate: end\n", "PASS\n")), string(frame("perfgate: end\n", "FAIL\n"))
	one := strings.TrimSuffix(result("A"), pass)
	tests := []struct {
		name   string
		script string // $skip is the -test.skip pattern
		files  []string
		leaves string
		faults string // "name: beginning of the reason", a line each
	}{
		{"well", "cat 1", []string{one + pass}, "A", ""},
		{"more after it", "cat 1", []string{one + pass + string(frame("bye\n"))}, "A", ""},
		{"skips, more after it", "cat 1", []string{one + string(frame("BenchmarkS\n", "--- SKIP: BenchmarkS\n")) + pass + string(frame("bye\n"))}, "A", "S: skips itself: (no message)"},
		{"fails", "cat 1; exit 1", []string{one + string(frame("BenchmarkF\n", "--- FAIL: BenchmarkF\n")) + fail}, "A", "F: fails: (no message)"},
		{"TestMain fails", "cat 1; exit 3", []string{one + pass}, "A", ": listing its benchmarks: exit status 3"},
		{"TestMain runs nothing", "exit 0", nil, "", ": listing its benchmarks: it ended without a result"},
		{"ends in a benchmark", "case $skip in '') cat 1; exit 2;; '^BenchmarkX$/^y$') cat 2;; esac", []string{one + string(frame("BenchmarkX\n", "BenchmarkX/y\n")), one + pass}, "A", "X/y: exit status 2"},
		{"ends in a benchmark as if all were well", "case $skip in '') cat 1;; '^BenchmarkX$') cat 2;; esac", []string{one + string(frame("BenchmarkX\n")), one + pass}, "A", "X: it ended without a result"},
		{"ends again and again", "cat 1; exit 2", []string{one + string(frame("BenchmarkX\n"))}, "A", "X: exit status 2\n: listing its benchmarks: exit status 2"},
		{"prints PASS and ends", "case $skip in '') cat 1;; '^BenchmarkX$') cat 2;; esac", []string{one + string(frame("PASS\n", "BenchmarkX\n")), one + pass}, "A", "X: it ended without a result"},
		{"TestMain prints PASS", "cat 1", []string{string(frame("PASS\n"))}, "", ": listing its benchmarks: it ended without a result"},
		{"logs a verdict", "cat 1", []string{string(frame("BenchmarkA\n", "    a_test.go:1: x\n        --- FAIL: BenchmarkB\n")) + one + pass}, "A", ""},
		{"prints the verdict of one that has a result", "cat 1", []string{one + string(frame("--- FAIL: BenchmarkA\n")) + pass}, "A", ""},
		{"runs for ever", "case $skip in '') cat 1; exec sleep 1000;; *) cat 2;; esac", []string{one + string(frame("BenchmarkX\n")), one + pass}, "A", "X: still running after 2s for one iteration: it waits: for real time, or for another process? (-realtime and -sysmon give it the clock and the thread that it may wait for, with counts that are not exact; -timeout allows more)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i, text := range test.files {
				if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i+1)), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			binary := filepath.Join(dir, "m.test")
			program := "#!/bin/sh\nfor a; do case $a in -test.skip=*) skip=${a#*=};; esac; done\n" + test.script + "\n"
			if err := os.WriteFile(binary, []byte(program), 0o700); err != nil {
				t.Fatal(err)
			}
			s := session(t, nil)
			s.req.Timeout = time.Minute
			if test.name == "runs for ever" {
				s.req.Timeout = 2 * time.Second
			}
			leaves, faults, err := s.list(t.Context(), exact.Package{ImportPath: "p"}, exact.Binary{Path: binary, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}}, "")
			if err != nil {
				t.Fatal(err)
			}
			var names, reasons []string
			for _, l := range leaves {
				names = append(names, l.Name)
			}
			for _, f := range faults {
				reason, _, _ := strings.Cut(f.Fault.Reason, "\n")
				reasons = append(reasons, strings.TrimPrefix(f.Name, "*")+": "+reason)
			}
			if got := strings.Join(names, " "); got != test.leaves {
				t.Errorf("got leaves %q, want %q", got, test.leaves)
			}
			if got := strings.Join(reasons, "\n"); got != test.faults {
				t.Errorf("got faults %q, want %q", got, test.faults)
			}
		})
	}
}

func TestReadList(t *testing.T) {
	s := new(Session)
	out := process.Output{Stdout: slices.Concat(
		frame("BenchmarkA\n"), output("BenchmarkA", 1, 2, 77, false),
		frame("BenchmarkP\n", "BenchmarkP/bad\n", "    a_test.go:1: no\n", "--- FAIL: BenchmarkP/bad\n", "--- FAIL: BenchmarkP\n"),
		frame("BenchmarkS\n", "    a_test.go:2: later\n", "--- SKIP: BenchmarkS\n", "FAIL\n"))}
	leaves, faults := s.readList(exact.Package{ImportPath: "p", CGO: true}, out)
	if want := []leaf{{Key: gate.Key{Pkg: "p", Name: "A"}, cgo: true, bytes: 77}}; !slices.Equal(leaves, want) {
		t.Errorf("got %+v, want %+v", leaves, want)
	}
	if len(faults) != 2 || faults[0].Name != "P/bad" || faults[1].Name != "S" {
		t.Fatalf("got %+v, want P/bad and S", faults)
	}
	for _, f := range faults {
		if f.Pkg != "p" || f.Fault == nil || f.Fault.Verdict != gate.Broken {
			t.Fatalf("got %+v, want it broken", f)
		}
	}
	if got, want := faults[0].Fault.Reason, "fails: a_test.go:1: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := faults[1].Fault.Reason, "skips itself: a_test.go:2: later\nleave it out with -skip"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
