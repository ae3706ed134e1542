package exact

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// excerpts reads the excerpts of a release.
func excerpts(release string) func(string) (string, error) {
	return func(file string) (string, error) {
		b, err := os.ReadFile(filepath.Join("testdata", release, filepath.FromSlash(file)+".txt"))
		return string(b), err
	}
}

var releases = []string{"go1.24", "go1.25", "go1.26", "go1.27"}

func TestEditsReleases(t *testing.T) {
	for _, release := range releases {
		files, n, err := apply("amd64", Flags{}, excerpts(release))
		if err != nil {
			t.Errorf("%s: %v", release, err)
		}
		want, wantN := 23, len(edits)
		if release == "go1.24" {
			want, wantN = 22, len(edits)-1 // it reads no control groups
		}
		if len(files) != want || n != wantN {
			t.Errorf("%s: got %d edits of %d files, want %d of %d", release, n, len(files), wantN, want)
		}
	}
}

// TestEditsParse applies the edits to the whole files of each toolchain that
// this machine has: the one in use, and those in the module cache.
func TestEditsParse(t *testing.T) {
	roots := []string{goEnv(t, "GOROOT")}
	more, err := filepath.Glob(filepath.Join(escapeGlob(goEnv(t, "GOMODCACHE")), "golang.org", "toolchain@*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range append(roots, more...) {
		version, err := os.ReadFile(filepath.Join(root, "VERSION"))
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(string(version), "\n")
		if root != roots[0] && !strings.HasPrefix(name, "go1.24.") && !strings.HasPrefix(name, "go1.25.") && !strings.HasPrefix(name, "go1.26.") && !strings.HasPrefix(name, "go1.27.") {
			continue // worksWith does not name it
		}
		g := &Go{Root: root}
		files, _, err := apply("amd64", Flags{}, g.read)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for file, text := range files {
			if !strings.HasSuffix(file, ".go") {
				continue
			}
			if _, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestEditsArch(t *testing.T) {
	files, _, err := apply("arm64", Flags{}, excerpts("go1.26"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := files["internal/cpu/cpu_x86.go"]; ok || len(files) != 21 {
		t.Errorf("got %d files, cpu_x86.go among them: %v, want 21 others", len(files), ok)
	}
}

// TestEditsChanged: a toolchain whose text is another is refused, whichever
// edit it is.
func TestEditsChanged(t *testing.T) {
	for _, release := range releases {
		for i, e := range edits {
			whole, err := excerpts(release)(e.file)
			if e.absent && release == "go1.24" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			old := ""
			for _, v := range e.variants {
				if strings.Count(whole, v.old) == e.count {
					old = v.old
					break
				}
			}
			for _, changed := range []struct {
				text  string
				count int
			}{
				{strings.ReplaceAll(whole, old, "gone\n"), 0},
				{whole + "\n" + old, e.count + 1},
				{whole + "\n" + old + "\n" + old, e.count + 2},
			} {
				_, err := e.apply(changed.text)
				want := fmt.Sprintf("occurs %d times, not %d", changed.count, e.count)
				quoted := old
				if changed.count == 0 {
					quoted = e.variants[0].old
				}
				quoted = fmt.Sprintf("%q", strings.TrimSpace(quoted))
				if err == nil || !strings.HasPrefix(err.Error(), e.file+": ") || !strings.HasSuffix(err.Error(), want) || !strings.Contains(err.Error(), quoted) {
					t.Errorf("%s, edit %d: got %v, want %s, %s and %s", release, i, err, e.file, quoted, want)
				}
			}
		}
	}
}

func TestEditsMissingFile(t *testing.T) {
	want := errors.New("no such file")
	_, _, err := apply("amd64", Flags{}, func(file string) (string, error) {
		if file == "runtime/iface.go" {
			return "", want
		}
		return excerpts("go1.26")(file)
	})
	if err != want {
		t.Errorf("got %v, want %v", err, want)
	}
	g := &Go{Root: t.TempDir()}
	if _, err := g.read("runtime/proc.go"); err == nil || !strings.Contains(err.Error(), "has no runtime/proc.go: its source is not installed") {
		t.Errorf("got %v, want that the source is not installed", err)
	}
}

// TestEditsWhy: each edit says why it is there, and does something.
func TestEditsWhy(t *testing.T) {
	for i, e := range edits {
		if e.why == "" || e.count < 1 || len(e.variants) == 0 {
			t.Errorf("edit %d of %s is not whole", i, e.file)
		}
		for _, v := range e.variants {
			if v.old == "" || v.old == v.new {
				t.Errorf("edit %d of %s does nothing", i, e.file)
			}
		}
	}
}
