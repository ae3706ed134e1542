//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The busy processes that startLoad starts are this test binary.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == busyArg {
		busy()
	}
	os.Exit(m.Run())
}

func TestLoad(t *testing.T) {
	stop, err := startLoad()
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Errorf("got %v, want no error: the processes were killed by stop", err)
	}
}

func TestMerge(t *testing.T) {
	got := merge([]string{"A=1", "B=2", "C=", "A=x=y", "B"})
	want := []string{"A=x=y", "C="}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCopyTree(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
	for _, name := range []string{"go.mod", "a/b.go", "a/bin/c", "bin/d", ".git/e", "a/.hidden"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyTree(to, from); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"go.mod": true, "a/b.go": true, "a/bin/c": true, "bin": false, ".git": false, "a/.hidden": false} {
		if _, err := os.Stat(filepath.Join(to, name)); (err == nil) != want {
			t.Errorf("%s: got %v, want it copied: %v", name, err, want)
		}
	}
}

func TestRemove(t *testing.T) {
	l := &lab{dir: filepath.Join(t.TempDir(), "lab")}
	locked := filepath.Join(l.dir, "a", "locked")
	if err := os.MkdirAll(locked, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(locked, "file"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := l.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.dir); !os.IsNotExist(err) {
		t.Errorf("got %v, want the folder gone", err)
	}
}
