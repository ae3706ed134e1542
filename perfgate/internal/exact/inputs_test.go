package exact

import (
	"os"
	"path/filepath"
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
		pkgs, err := g.Packages(t.Context(), Flags{}, []string{"./a"})
		if err != nil || len(pkgs) != 1 || pkgs[0].Err != "" {
			t.Fatalf("got %+v, %v", pkgs, err)
		}
		sum, err := pkgs[0].Inputs()
		if err != nil {
			t.Fatal(err)
		}
		return sum
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
