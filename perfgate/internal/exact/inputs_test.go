package exact

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputs: what decides a test binary decides the hash, and nothing else.
func TestInputs(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	root := t.TempDir()
	put := func(dir string, files map[string]string) {
		t.Helper()
		for name, text := range files {
			if err := writeOnce(filepath.Join(root, dir, name), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	module := map[string]string{
		"go.mod":           "module example.com/m\n\ngo 1.24\n\nrequire example.com/near v0.0.0\n\nreplace example.com/near => ../near\n",
		"a/a.go":           "package a\n\nimport (\n\t_ \"embed\"\n\n\t_ \"example.com/m/used\"\n\t_ \"example.com/near\"\n)\n\n//go:embed text\nvar text string\n",
		"a/text":           "embedded",
		"a/a_test.go":      "package a\n",
		"a/x_test.go":      "package a_test\n\nimport _ \"example.com/m/tested\"\n",
		"a/asm_amd64.s":    "// nothing\n",
		"a/other.txt":      "not part of it",
		"used/used.go":     "package used\n",
		"used/u_test.go":   "package used\n",
		"tested/tested.go": "package tested\n",
		"unused/unused.go": "package unused\n",
	}
	hash := func(dir string) string {
		t.Helper()
		g, err := FindGo(t.Context(), filepath.Join(root, dir), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return inputsOf(t, g, "./a")
	}
	put("near", map[string]string{"go.mod": "module example.com/near\n\ngo 1.24\n", "near.go": "package near\n"})
	put("m", module)
	put("elsewhere/m", module)
	put("elsewhere/near", map[string]string{"go.mod": "module example.com/near\n\ngo 1.24\n", "near.go": "package near\n"})
	first := hash("m")
	if other := hash("elsewhere/m"); other != first {
		t.Error("another place has other inputs")
	}
	for name, same := range map[string]bool{
		"m/a/a.go": false, "m/a/text": false, "m/a/a_test.go": false, "m/a/x_test.go": false, "m/a/asm_amd64.s": false,
		"m/used/used.go": false, "m/tested/tested.go": false, "near/near.go": false,
		"m/a/other.txt": true, "m/used/u_test.go": true, "m/unused/unused.go": true, "near/go.mod": true,
	} {
		path := filepath.Join(root, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(".", map[string]string{name: string(text) + "\n"})
		if got := hash("m") == first; got != same {
			t.Errorf("%s changed: equal inputs %v, want %v", name, got, same)
		}
		put(".", map[string]string{name: string(text)})
	}
	// The language version and its settings change the code.
	put("m", map[string]string{"go.mod": module["go.mod"] + "\ngodebug panicnil=1\n"})
	if hash("m") == first {
		t.Error("another GODEBUG default has the same inputs")
	}
	put("m", map[string]string{"go.mod": module["go.mod"]})
	put("near", map[string]string{"go.mod": "module example.com/near\n\ngo 1.21\n"})
	if hash("m") == first {
		t.Error("another language version of a dependency has the same inputs")
	}
}

// TestInputsElsewhere: the standard library and the module cache are files like
// others, which someone edits.
func TestInputsElsewhere(t *testing.T) {
	root, used := t.TempDir(), "container/ring/ring.go"
	linkRoot(t, root, used)
	t.Setenv("GOROOT", root)
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := writeOnce(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put("m/go.mod", "module example.com/m\n\ngo 1.24\n\nrequire example.com/near v0.0.0\n\nreplace example.com/near => ../cache/near\n")
	put("m/m_test.go", "package m\n\nimport (\n\t_ \"container/ring\"\n\n\t_ \"example.com/near\"\n)\n")
	put("cache/near/go.mod", "module example.com/near\n\ngo 1.24\n")
	put("cache/near/near.go", "package near\n")
	g, err := FindGo(t.Context(), filepath.Join(dir, "m"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g.ModCache = filepath.Join(dir, "cache")
	seen := make(map[string]bool)
	hash := func() string { t.Helper(); return inputsOf(t, g, ".") }
	seen[hash()] = true
	put("cache/near/near.go", "package near\n\n// Edited.\n")
	seen[hash()] = true
	if err := os.WriteFile(filepath.Join(root, "src", used), []byte("package ring\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	seen[hash()] = true
	if len(seen) != 3 {
		t.Errorf("got %d different inputs, want 3", len(seen))
	}
}

// linkRoot makes a GOROOT of links to the files of the one in use, and a copy of
// one of its source files.
func linkRoot(t *testing.T, root, copied string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	real := strings.TrimSpace(string(out))
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(real, path)
		if err != nil {
			return err
		}
		to := filepath.Join(root, rel)
		switch {
		case rel == "." || rel == "src":
			return os.MkdirAll(to, 0o777)
		case !strings.HasPrefix(rel, "src"+string(filepath.Separator)):
			err = os.Symlink(path, to)
		case d.IsDir() && (d.Name() == "testdata" || rel == filepath.Join("src", "cmd")):
		case d.IsDir():
			return os.MkdirAll(to, 0o777)
		case rel == filepath.Join("src", copied):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(to, text, 0o666)
		default:
			err = os.Symlink(path, to)
		}
		if err == nil && d.IsDir() {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// inputsOf returns the inputs of the one package that a pattern matches.
func inputsOf(t *testing.T, g *Go, pattern string) string {
	t.Helper()
	pkgs, err := g.Packages(t.Context(), Flags{}, []string{pattern})
	if err != nil || len(pkgs) != 1 || pkgs[0].Err != "" {
		t.Fatalf("got %+v, %v", pkgs, err)
	}
	sum, err := pkgs[0].Inputs()
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
