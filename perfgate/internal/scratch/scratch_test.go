//go:build unix

package scratch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestMain makes the test binary a run that takes a folder, fills it and waits
// to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("SCRATCH_TEST_RUN") != "" {
		d, err := New()
		if err == nil {
			err = os.MkdirAll(filepath.Join(d.Path, "a", "b"), 0o700)
		}
		fmt.Println(d.Path, err)
		bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// tempRoot makes a folder with a short path and TMPDIR of it: those of
// [testing.T.TempDir] are too long.
func tempRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "scr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir
}

func newDir(t *testing.T) *Dir {
	t.Helper()
	d, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Remove() })
	return d
}

func remove(t *testing.T, d *Dir) {
	t.Helper()
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(d.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: got %v, want that it is gone", d.Path, err)
	}
}

func TestPathLength(t *testing.T) {
	root := tempRoot(t)
	t.Chdir(root)
	deep := filepath.Join(root, strings.Repeat("d", 100))
	for _, dir := range []string{deep, root + "/x", root + "/123456789", root + "/1234567890123"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tmp := range []string{"", "/tmp", "/tmp/", root, root + "//x/../x/", root + "/123456789", root + "/1234567890123", deep, "x", "."} {
		t.Setenv("TMPDIR", tmp)
		d := newDir(t)
		info, err := os.Stat(d.Path)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Path) != pathLen || !filepath.IsAbs(d.Path) || info.Mode().Perm() != 0o700 {
			t.Errorf("TMPDIR=%s: got %s of %d bytes, mode %v, want %d bytes", tmp, d.Path, len(d.Path), info.Mode(), pathLen)
		}
		remove(t, d)
	}
}

func TestNewMissing(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(tempRoot(t), "none"))
	if d, err := New(); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("got %v, %v, want a hint at TMPDIR", d, err)
	}
}

func TestSamePath(t *testing.T) {
	tempRoot(t)
	first := newDir(t)
	path := first.Path
	remove(t, first)
	if again := newDir(t); again.Path != path {
		t.Errorf("got %s, want %s", again.Path, path)
	}
}

func TestTwoAtOnce(t *testing.T) {
	tempRoot(t)
	a, b := newDir(t), newDir(t)
	if a.Path == b.Path {
		t.Errorf("both have %s", a.Path)
	}
	if len(a.Path) != len(b.Path) {
		t.Errorf("got lengths %d and %d, want equal ones", len(a.Path), len(b.Path))
	}
	remove(t, a)
	if _, err := os.Stat(b.Path); err != nil {
		t.Error(err)
	}
}

// TestManyAtOnce: runs that begin and end beside each other never share a
// folder, never lose one, and leave nothing.
func TestManyAtOnce(t *testing.T) {
	root := tempRoot(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 40 {
				d, err := New()
				if err != nil {
					t.Error(err)
					return
				}
				name := filepath.Join(d.Path, "mine")
				if err := os.Mkdir(name, 0o700); err != nil {
					t.Error(i, j, err)
				}
				if entries, err := os.ReadDir(d.Path); err != nil || len(entries) != 2 {
					t.Errorf("got %v, %v, want the lock and mine", entries, err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("got %v, %v, want nothing left", entries, err)
	}
}

func TestKilledRun(t *testing.T) {
	root := tempRoot(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(self)
	run.Env = append(os.Environ(), "SCRATCH_TEST_RUN=yes")
	if _, err := run.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	path, ok := strings.CutSuffix(line, " <nil>\n")
	if !ok {
		t.Fatal(line)
	}
	beside := newDir(t)
	if beside.Path == path {
		t.Fatalf("took %s of a living run", path)
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.Wait()
	remove(t, beside)
	d := newDir(t)
	if d.Path != path {
		t.Errorf("got %s, want %s again", d.Path, path)
	}
	if entries, err := os.ReadDir(d.Path); err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want the lock alone", entries, err)
	}
	remove(t, d)
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("got %v, %v, want nothing left", entries, err)
	}
}

// TestStaleSlots: what runs left that had other slots goes too.
func TestStaleSlots(t *testing.T) {
	root := tempRoot(t)
	for _, i := range []int{0, 1, 7, 999} {
		if err := os.MkdirAll(filepath.Join(slotPath(root, i), "a"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d := newDir(t)
	if want := slotPath(root, 0); d.Path != want {
		t.Errorf("got %s, want %s", d.Path, want)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v, want the folder of this run alone", entries, err)
	}
}

// TestForeign: what is in a slot and not a run's is left alone.
func TestForeign(t *testing.T) {
	mkdir := func(mode os.FileMode) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "data"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		slot bool // at the path of slot 0, which then cannot be used
	}{
		{"others can enter", mkdir(0o755), true},
		{"others can write", mkdir(0o777), true},
		{"file", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("data"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"symbolic link", func(t *testing.T, path string) {
			to := filepath.Join(filepath.Dir(path), "private")
			mkdir(0o700)(t, to)
			if err := os.Symlink(to, path); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"dangling link", func(t *testing.T, path string) {
			if err := os.Symlink("none", path); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"another user's", func(t *testing.T, path string) {
			if os.Geteuid() != 0 {
				t.Skip("needs root")
			}
			mkdir(0o700)(t, path)
			if err := os.Chown(path, 1, 1); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"other name of that length", mkdir(0o700), false},
		{"number of no slot", mkdir(0o700), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := tempRoot(t)
			path := slotPath(root, 0)
			switch test.name {
			case "other name of that length":
				path = path[:len(path)-1] + "x"
			case "number of no slot":
				path = slotPath(root, slots)
			}
			test.make(t, path)
			before := snapshot(t, root)
			d := newDir(t)
			want := slotPath(root, 0)
			if test.slot {
				want = slotPath(root, 1)
			}
			if d.Path != want {
				t.Errorf("got %s, want %s", d.Path, want)
			}
			remove(t, d)
			if after := snapshot(t, root); after != before {
				t.Errorf("got %s, want it as it was: %s", after, before)
			}
		})
	}
}

func snapshot(t *testing.T, root string) string {
	t.Helper()
	var all []string
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != root {
			all = append(all, fmt.Sprintf("%s %v %v", path, info.Mode(), info.Sys().(*syscall.Stat_t).Ino))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// TestReadOnly: a measured program may leave folders that cannot be written.
// (For root they can, so that this shows only that modes do no harm.)
func TestReadOnly(t *testing.T) {
	tempRoot(t)
	d := newDir(t)
	outside := filepath.Join(filepath.Dir(d.Path), "outside")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(d.Path, "a", "b", "c")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"f", "../g"} {
		if err := os.WriteFile(filepath.Join(inner, name), nil, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(inner, "link")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{inner, filepath.Dir(inner), filepath.Dir(filepath.Dir(inner)), outside} {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	remove(t, d)
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("behind a link: got %v, %v, want it as it was", info, err)
	}
}
