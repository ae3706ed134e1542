//go:build linux

// Package examples tests the file examples.
package examples

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A program is an example that was built.
type program struct {
	path string
	key  string
}

// build builds both examples.
func build(t *testing.T, dir string) (both []program) {
	t.Helper()
	key := filepath.Join(dir, "key.txt")
	if err := os.WriteFile(key, []byte(hex.EncodeToString(bytes.Repeat([]byte{7}, 32))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "parallel"} {
		exe := filepath.Join(dir, name)
		if out, err := exec.Command("go", "build", "-o", exe, "./"+name).CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", name, err, out)
		}
		both = append(both, program{exe, key})
	}
	return both
}

// run runs an example and returns the most memory it had, in bytes.
func (p program) run(args ...string) (int64, error) {
	c := exec.Command(p.path, append([]string{"-key", p.key}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s %v: %w: %s", filepath.Base(p.path), args, err, out)
	}
	kib := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss // 32 bits on some machines
	return int64(kib) << 10, nil
}

// Both open what either has sealed, and refuse what was changed without leaving
// a file.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	both := build(t, dir)
	plain, sealed, back := filepath.Join(dir, "plain"), filepath.Join(dir, "sealed"), filepath.Join(dir, "back")
	rng := rand.NewChaCha8([32]byte{})
	for _, n := range []int{0, 1, 65, 4064, 4065, 100_000} {
		want := make([]byte, n)
		rng.Read(want)
		if err := os.WriteFile(plain, want, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, a := range both {
			for _, b := range both {
				if _, err := a.run("-aad", "x", "-segment", "4096", "seal", plain, sealed); err != nil {
					t.Fatal(err)
				}
				if _, err := b.run("-aad", "x", "-segment", "4096", "open", sealed, back); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes: got %d, %v", n, len(got), err)
				}
				if err := os.Remove(back); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, p := range both {
			for _, args := range [][]string{
				{"-aad", "y", "-segment", "4096"},
				{"-aad", "x", "-segment", "8192"},
				{"-aad", "x", "-segment", "63"},
				{"-aad", "x"},
			} {
				if _, err := p.run(append(args, "open", sealed, back)...); err == nil {
					t.Errorf("%v opens", args)
				}
			}
			msg, err := os.ReadFile(sealed)
			if err != nil {
				t.Fatal(err)
			}
			bad := filepath.Join(dir, "bad")
			for _, b := range [][]byte{msg[:len(msg)-1], append(bytes.Clone(msg), 0), msg[:0]} {
				if err := os.WriteFile(bad, b, 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := p.run("-aad", "x", "-segment", "4096", "open", bad, back); err == nil {
					t.Errorf("%d of %d bytes open", len(b), len(msg))
				}
			}
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if more, err2 := filepath.Glob(filepath.Join(dir, ".floe-*")); err != nil || err2 != nil || len(more) > 0 {
		t.Errorf("left %v, %v, %v", more, err, err2)
	}
	for _, n := range names {
		if strings.HasSuffix(n, "back") {
			t.Errorf("left %s", n)
		}
	}
}

// A sparse file of 3 GiB goes through each example and back in little memory.
func TestLargeFile(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("writes 12 GiB")
	}
	const size, limit = 3 << 30, 64 << 20
	dir := t.TempDir()
	plain, sealed, back := filepath.Join(dir, "plain"), filepath.Join(dir, "sealed"), filepath.Join(dir, "back")
	f, err := os.Create(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 1<<20 - 33, 1 << 30, 1<<31 - 1, 1<<31 + 1, size - 5} {
		if _, err := f.WriteAt([]byte("data!"), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range build(t, dir) {
		for _, args := range [][]string{{"seal", plain, sealed}, {"open", sealed, back}} {
			rss, err := p.run(args...)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s: %d MiB", filepath.Base(p.path), args[0], rss>>20)
			if rss > limit {
				t.Errorf("%s %s takes %d bytes of memory, want at most %d", filepath.Base(p.path), args[0], rss, limit)
			}
		}
		same(t, plain, back)
	}
}

// same fails unless two files have the same bytes.
func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	p, q := make([]byte, 1<<20), make([]byte, 1<<20)
	for at := int64(0); ; at += 1 << 20 {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		if !bytes.Equal(p[:n], q[:m]) || errX != errY {
			t.Fatalf("the files differ in the MiB at %d: %v, %v", at, errX, errY)
		}
		if errX != nil {
			return
		}
	}
}
