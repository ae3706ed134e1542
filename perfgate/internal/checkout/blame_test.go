package checkout

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlame: a line is from the commit that changed more of it than its comma.
func TestBlame(t *testing.T) {
	dir, git := repository(t)
	file := filepath.Join(dir, "sub", "budgets")
	write := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	write("{", "a 1,", "b 1", "}")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	write("{", "a 2,", "b 1", "}")
	git("commit", "-q", "-a", "-m", "second")
	write("{", "a 2,", "aa 1,", "b 1,", "c 1", "}")
	git("commit", "-q", "-a", "-m", "third")
	write("{", "a 2,", "aa 1,", "b 1", "}")
	git("commit", "-q", "-a", "-m", "fourth")
	write("{", "a 2,", "aa 5,", "b 1", "}")

	r, err := Open(t.Context(), filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]string{2: "second", 4: "first"} {
		if c, err := r.Blame(t.Context(), file, line); err != nil || c.Subject != want || len(c.Hash) != 40 {
			t.Errorf("line %d: got %v, %v, want %s", line, c, err, want)
		}
	}
	if _, err := r.Blame(t.Context(), file, 3); !errors.Is(err, ErrUncommitted) {
		t.Errorf("changed line: got %v, want ErrUncommitted", err)
	}
	unknown := filepath.Join(dir, "unknown")
	if err := os.WriteFile(unknown, []byte("x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Blame(t.Context(), unknown, 1); !errors.Is(err, ErrUncommitted) {
		t.Errorf("unknown file: got %v, want ErrUncommitted", err)
	}
	if _, err := r.Blame(t.Context(), filepath.Join(t.TempDir(), "x"), 1); err == nil {
		t.Error("file elsewhere: got no error")
	}

	// A clone without the history cannot tell.
	git("checkout", "-q", "sub/budgets")
	clone := filepath.Join(t.TempDir(), "clone")
	git("clone", "-q", "--depth=1", "file://"+dir, clone)
	r, err = Open(t.Context(), clone)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := r.Blame(t.Context(), filepath.Join(clone, "sub", "budgets"), 2); err == nil || !strings.Contains(err.Error(), "git fetch --unshallow") {
		t.Errorf("shallow clone: got %v, %v", c, err)
	}
}
