package exact

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "", strings.Repeat("second", 1000)} {
		if err := WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("got %v, %v, want mode 0640", info.Mode(), err)
		}
		if got, want := entries(t, dir), []string{"file"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestWriteFileFails: the old content stays, and nothing else.
func TestWriteFileFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("x"), 0o644); err == nil {
		t.Error("over a folder: want an error")
	}
	if got, want := entries(t, dir), []string{"taken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := WriteFile(filepath.Join(dir, "none", "file"), []byte("x"), 0o644); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v", err, os.ErrNotExist)
	}
}

func TestWriteOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "file")
	if err := writeOnce(path, []byte("text")); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeOnce(path, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("got another file, %v, want what was there", err)
	}
	// What an interrupted writer, a full disk or a person left is replaced,
	// and the temporary file of one that was killed does no harm.
	for _, left := range []string{"", "te", "text and more", "TEXT"} {
		if err := os.WriteFile(path, []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".file.123"), []byte("te"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writeOnce(path, []byte("text")); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "text" {
			t.Errorf("after %q: got %q, %v, want text", left, got, err)
		}
	}
}

// TestWriteOnceConcurrent: a reader sees nothing or all, whoever writes.
func TestWriteOnceConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "file")
	text := []byte(strings.Repeat("0123456789", 10_000))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := writeOnce(path, text); err != nil {
					t.Error(err)
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != string(text) {
					t.Errorf("got %d bytes, %v, want %d", len(got), err, len(text))
				}
				os.Remove(path + ".none")
			}
		})
	}
	wg.Wait()
	if got, want := entries(t, filepath.Dir(path)), []string{"file"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// fakeRoot makes a GOROOT of the excerpts.
func fakeRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	seen := make(map[string]bool)
	for _, e := range edits {
		if seen[e.file] {
			continue
		}
		seen[e.file] = true
		text, err := excerpts("go1.26")(e.file)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeOnce(filepath.Join(root, "src", e.file), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestOverlay(t *testing.T) {
	g := &Go{Version: "go1.26.8", GOARCH: "amd64", Root: fakeRoot(t), Cache: t.TempDir()}
	original, err := g.read("runtime/proc.go")
	if err != nil {
		t.Fatal(err)
	}
	o, err := g.Overlay(Flags{})
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Replace map[string]string }
	text, err := os.ReadFile(o.File)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Replace) != 23 || len(o.Edited) != 23 || !slices.IsSorted(o.Edited) {
		t.Errorf("got %d files, edited %q, want 23", len(list.Replace), o.Edited)
	}
	for was, is := range list.Replace {
		a, err := os.ReadFile(was)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(is)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) == string(b) {
			t.Errorf("%s: got what it was, want an edit", was)
		}
	}
	if now, err := g.read("runtime/proc.go"); err != nil || now != original {
		t.Errorf("the toolchain was written, or %v", err)
	}

	again, err := g.Overlay(Flags{})
	if err != nil || again.Hash != o.Hash || again.File != o.File {
		t.Errorf("got %+v, %v, want %+v", again, err, o)
	}
	// Another text, another place.
	path := filepath.Join(g.Root, "src", "runtime", "proc.go")
	if err := os.WriteFile(path, []byte(original+"// more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other, err := g.Overlay(Flags{}); err != nil || other.Hash == o.Hash || other.File == o.File {
		t.Errorf("got %+v, %v, want another than %+v", other, err, o)
	}
	if err := os.WriteFile(path, []byte("package runtime\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = g.Overlay(Flags{})
	if err == nil {
		t.Fatal("want an error for another source")
	}
	for _, want := range []string{"this go1.26.8 is not one that perfgate can make exact (known to work: go1.24 to go1.27)", "runtime/proc.go", `const haveSysmon = GOARCH != \"wasm\"`, "occurs 0 times, not 1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestDigest(t *testing.T) {
	seen := make(map[string][]string)
	for _, list := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"1:a"}, {"a1:b"}} {
		d := digest(list...)
		if len(d) != 16 || seen[d] != nil {
			t.Errorf("%q: got %s, as for %q", list, d, seen[d])
		}
		seen[d] = append([]string{}, list...)
	}
}

func TestCacheDir(t *testing.T) {
	root := t.TempDir()
	user, gocache := filepath.Join(root, "user"), filepath.Join(root, "go")
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, xdg, home, gocache, want string }{
		{"user's", user, root, gocache, filepath.Join(user, "perfgate")},
		{"home's", "", root, gocache, filepath.Join(root, ".cache", "perfgate")},
		{"no home", "", "", gocache, filepath.Join(gocache, "perfgate")},
		{"cannot be made", file, root, gocache, filepath.Join(gocache, "perfgate")},
		{"relative", "rel", root, gocache, filepath.Join(gocache, "perfgate")},
		{"neither", file, root, "off", ""},
		{"nothing at all", "", "", "", ""},
	}
	for _, test := range tests {
		t.Setenv("XDG_CACHE_HOME", test.xdg)
		t.Setenv("HOME", test.home)
		got, err := cacheDir(test.gocache)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: got %q, %v, want %q", test.name, got, err, test.want)
		}
		if err != nil && (!strings.Contains(err.Error(), "set XDG_CACHE_HOME") || strings.Contains(err.Error(), "%!")) {
			t.Errorf("%s: got %v, want a hint", test.name, err)
		}
	}
}

func TestOutsideModCache(t *testing.T) {
	mod, cache := t.TempDir(), t.TempDir()
	inside := filepath.Join(mod, "golang.org", "toolchain@v0.0.1")
	if err := writeOnce(filepath.Join(inside, "VERSION"), []byte("go1.27.3")); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"/usr/lib/go", mod + "2/x", filepath.Dir(mod)} {
		if got, err := outsideModCache(root, mod, cache); got != root || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, root)
		}
	}
	if got, err := outsideModCache(inside, "", cache); got != inside || err != nil {
		t.Errorf("no module cache: got %s, %v, want %s", got, err, inside)
	}
	for range 2 {
		got, err := outsideModCache(inside, mod, cache)
		if err != nil || !strings.HasPrefix(got, cache) {
			t.Fatalf("got %s, %v, want a path in %s", got, err, cache)
		}
		if _, err := os.Stat(filepath.Join(got, "VERSION")); err != nil {
			t.Error(err)
		}
	}
	if _, err := outsideModCache(inside, mod, filepath.Join(cache, "none")); err == nil {
		t.Error("a cache folder that is not there: want an error")
	}
}

func TestSplitFlags(t *testing.T) {
	got := splitFlags("  -a=b '-ldflags=-X main.a=b'\t\"-c= d\" -e=''\n")
	want := []string{"-a=b", "-ldflags=-X main.a=b", "-c= d", "-e=''"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSettings: what changes the code of a program is told, what does not is
// not.
func TestSettings(t *testing.T) {
	if got := (&Go{fips: "off", flags: []string{"-mod=mod", "-trimpath", "-ldflags=-X a.b=c"}}).Settings(Flags{}); got != nil {
		t.Errorf("got %q, want none", got)
	}
	g := &Go{fips: "v1.0.0", flags: []string{"-race", "-tags=a", "-gcflags=-l"}}
	if got, want := g.Settings(Flags{}), []string{"-tags=a", "-gcflags=-l", "-race=true", "GOFIPS140=v1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := g.Settings(Flags{Tags: "b,c", GCFlags: []string{"-N"}}), []string{"-tags=b,c", "-gcflags=-N", "-race=true", "GOFIPS140=v1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFlag(t *testing.T) {
	g := &Go{flags: []string{"-tags=a,b", "--ldflags=-s", "-mod=mod", "-v", "-tags=c"}}
	for name, want := range map[string]string{"tags": "c", "ldflags": "-s", "v": "true", "race": ""} {
		if got := g.Flag(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, test := range []struct {
		g          *Go
		user, want string
	}{
		{g, "", "c"}, {g, "x,y", "x,y"}, {new(Go), "", ""},
	} {
		if got := test.g.tags(Flags{Tags: test.user}); got != test.want {
			t.Errorf("%q: got %q, want %q", test.user, got, test.want)
		}
	}
}

func TestBenchmarkFunctions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*?")
	for name, text := range map[string]string{
		"a_test.go":     "package a\n\nfunc BenchmarkA(b *testing.B) {}\nfunc Benchmark(b *testing.B) {}\n\tfunc BenchmarkIndented(b)\nfunc (t T) BenchmarkMethod(b)\n",
		"b_x_test.go":   "//go:build never\n\npackage a_test\n\nfunc BenchmarkÄ_1(b *testing.B) {}\nfunc  BenchmarkB_1 (b *testing.B) {}\n",
		"c.go":          "package a\n\nfunc BenchmarkNo(b *testing.B) {}\n",
		"sub/d_test.go": "package d\n\nfunc BenchmarkSub(b *testing.B) {}\n",
	} {
		if err := writeOnce(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := benchmarkFunctions(dir)
	a, b := filepath.Join(dir, "a_test.go"), filepath.Join(dir, "b_x_test.go")
	want := []Benchmark{{"BenchmarkA", a, 3}, {"Benchmark", a, 4}, {"BenchmarkÄ_1", b, 5}, {"BenchmarkB_1", b, 6}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := benchmarkFunctions(filepath.Join(dir, "none")); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v, want none", got, err)
	}
}

type fakeCounter struct {
	result count.Result
	err    error
}

func (f fakeCounter) Run(_ context.Context, c process.Command, _ string, _ time.Duration) (count.Result, error) {
	return f.result, f.err
}

func TestFeatures(t *testing.T) {
	result := func(status string, out, err []byte) count.Result {
		return count.Result{Count: count.Count{Total: 7}, Output: process.Output{Stdout: out, Stderr: err}, Status: status}
	}
	tests := []struct {
		name    string
		c       fakeCounter
		want    string
		wantErr string
	}{
		{"well", fakeCounter{result: result("", frame("avx2 sse3\n"), nil)}, "avx2 sse3", ""},
		{"status", fakeCounter{result: result("exit status 2", frame("avx2\n"), frame("SIGILL\n"))}, "", "running a small Go program under valgrind: exit status 2: SIGILL"},
		{"trouble", fakeCounter{err: errors.New("no counts")}, "", "running a small Go program under valgrind: no counts"},
	}
	for _, test := range tests {
		got, total, err := Features(t.Context(), test.c, "probe", t.TempDir(), 0)
		switch {
		case test.wantErr != "":
			if err == nil || err.Error() != test.wantErr {
				t.Errorf("%s: got %v, want %s", test.name, err, test.wantErr)
			}
		case err != nil || got != test.want || total != 7:
			t.Errorf("%s: got %q, %d, %v, want %q, 7", test.name, got, total, err, test.want)
		}
	}
}

// TestPackages: patterns, faults of packages, and cgo, which the graph decides.
func TestPackages(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module example.com/m\n\ngo 1.24\n",
		"a/a_test.go":        "package a\n\nimport \"testing\"\n\nfunc BenchmarkA(b *testing.B) {}\n",
		"native/n.go":        "package native\n\nimport \"C\"\n",
		"native/n_test.go":   "package native\n\nimport \"testing\"\n\nfunc BenchmarkN(b *testing.B) {}\n",
		"uses/u.go":          "package uses\n",
		"uses/u_test.go":     "package uses_test\n\nimport (\n\t\"testing\"\n\n\t_ \"example.com/m/native\"\n)\n\nfunc BenchmarkU(b *testing.B) {}\n",
		"net/n.go":           "package net\n\nimport _ \"net\"\n",
		"bad/bad_test.go":    "package bad\n\nimport _ \"example.com/m/none\"\n\nfunc BenchmarkBad(b *testing.B) {}\n",
		"syntax/s.go":        "package syntax\n\nimport 5\n",
		"tagged/t_test.go":   "//go:build mine\n\npackage tagged\n\nimport \"testing\"\n\nfunc BenchmarkT(b *testing.B) {}\n",
		"testdata/x/x.go":    "package x\n",
		"nested/go.mod":      "module example.com/nested\n",
		"nested/n_test.go":   "package nested\n",
		"faketime/f.go":      "//go:build faketime\n\npackage f\n\nimport _ \"example.com/m/none\"\n", // no tag of ours
		"faketime/f_test.go": "package f\n\nimport \"testing\"\n\nfunc BenchmarkF(b *testing.B) {}\n",
	} {
		if err := writeOnce(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	t.Setenv("CGO_ENABLED", "1")
	g, err := FindGo(t.Context(), dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if want, err := filepath.EvalSymlinks(filepath.Join(dir, "go.mod")); err != nil || g.ModFile != want && g.ModFile != filepath.Join(dir, "go.mod") {
		t.Errorf("got %s, %v, want %s", g.ModFile, err, want)
	}
	list := func(f Flags, patterns ...string) map[string]Package {
		t.Helper()
		found, err := g.Packages(t.Context(), f, patterns)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(found, func(a, b Package) int { return strings.Compare(a.ImportPath, b.ImportPath) }) {
			t.Errorf("got %+v, want them sorted", found)
		}
		all := make(map[string]Package)
		for _, p := range found {
			all[strings.TrimPrefix(p.ImportPath, "example.com/m/")] = p
		}
		return all
	}
	all := list(Flags{}, "./...")
	names := slices.Sorted(maps.Keys(all))
	if want := []string{"a", "bad", "faketime", "native", "net", "syntax", "tagged", "uses"}; !slices.Equal(names, want) && !slices.Equal(names, slices.DeleteFunc(want, func(s string) bool { return s == "tagged" })) {
		t.Errorf("got %q, want %q", names, want)
	}
	for name, cgo := range map[string]bool{"a": false, "native": true, "uses": true, "net": false, "faketime": false} {
		if p := all[name]; p.CGO != cgo || p.Err != "" {
			t.Errorf("%s: got %+v, want cgo %v and no fault", name, p, cgo)
		}
	}
	for name, want := range map[string]string{"bad": "example.com/m/none", "syntax": "import path must be a string"} {
		if p := all[name]; !strings.Contains(p.Err, want) {
			t.Errorf("%s: got %q, want %q in its fault", name, p.Err, want)
		}
	}
	if p := list(Flags{Tags: "mine"}, "./tagged")["tagged"]; p.Err != "" || len(p.Benchmarks) != 1 || p.Benchmarks[0].Name != "BenchmarkT" {
		t.Errorf("got %+v, want BenchmarkT", p)
	}
	if got := list(Flags{}, "./a", "example.com/m/uses"); len(got) != 2 {
		t.Errorf("got %v, want two packages", got)
	}
	t.Setenv("CGO_ENABLED", "0")
	if p := list(Flags{}, "./uses")["uses"]; p.CGO {
		t.Error("CGO_ENABLED=0: got cgo, want none")
	}
	for _, pattern := range []string{"./none", "./none/...", "example.com/other/..."} {
		if found, err := g.Packages(t.Context(), Flags{}, []string{pattern}); err == nil {
			t.Errorf("%s: got %+v, want an error", pattern, found)
		}
	}
	for range 5 {
		_, err := g.Packages(t.Context(), Flags{}, []string{"./z", "./y", "./x", "./a"})
		if err == nil || !strings.Contains(err.Error(), "/x") {
			t.Errorf("got %v, want the first of three that are not there", err)
		}
	}
}

// TestBuildSettingsProfile: a profile that GOFLAGS names counts with what is in it.
func TestBuildSettingsProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.pgo")
	g := &Go{flags: []string{"-pgo=" + file}}
	var seen [][]string
	for _, content := range []string{"one", "two"} {
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		settings, err := g.BuildSettings()
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, settings)
	}
	if slices.Equal(seen[0], seen[1]) {
		t.Errorf("got %q twice", seen[0])
	}
}
