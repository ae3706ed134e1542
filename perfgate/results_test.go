package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

func storedDocument() *report.Document {
	s := gate.Sample{Key: gate.Key{Pkg: "p", Name: "A"}, K: 1, IrPerOp: 123_4567, Lo: gate.Run{N: 11, Ir: 100}, Hi: gate.Run{N: 21, Ir: 1334}}
	return report.New(gate.Target{GOOS: "linux"}, gate.Toolchain{}, []gate.Sample{s}, report.Run{Totals: []report.Total{}})
}

func unchanged(string) bool { return false }

func TestResults(t *testing.T) {
	dir := t.TempDir()
	r := results{t.TempDir()}
	read := filepath.Join(dir, "read")
	if err := os.WriteFile(read, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	files := []string{read, filepath.Join(dir, "absent"), dir, os.DevNull}
	put := func() {
		t.Helper()
		if err := r.store("k", storedDocument(), files, unchanged); err != nil {
			t.Fatal(err)
		}
	}
	if r.load("k") != nil {
		t.Error("nothing is stored yet")
	}
	put()
	d := r.load("k")
	if d == nil || len(d.Samples()) != 1 || d.Samples()[0] != (gate.Sample{Key: gate.Key{Pkg: "p", Name: "A"}, K: 1, IrPerOp: 123_4567, Lo: gate.Run{N: 11, Ir: 100}, Hi: gate.Run{N: 21, Ir: 1334}}) {
		t.Fatalf("got %+v", d)
	}

	// Any byte that is another one, and any end that is too early, is seen.
	whole, err := os.ReadFile(r.path("k"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		for name, text := range map[string][]byte{"cut": whole[:i], "changed": append(append([]byte{}, whole[:i]...), append([]byte{whole[i] ^ 1}, whole[i+1:]...)...)} {
			if err := os.WriteFile(r.path("k"), text, 0o666); err != nil {
				t.Fatal(err)
			}
			if r.load("k") != nil {
				t.Fatalf("%s at %d: it is believed", name, i)
			}
		}
	}
	put()
	for name, change := range map[string]func() error{
		"content": func() error { return os.WriteFile(read, []byte("y"), 0o666) },
		"absent":  func() error { return os.WriteFile(filepath.Join(dir, "absent"), nil, 0o666) },
		"folder":  func() error { return os.WriteFile(filepath.Join(dir, "another"), nil, 0o666) },
	} {
		put()
		if r.load("k") == nil {
			t.Fatalf("before %s: nothing is stored", name)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if r.load("k") != nil {
			t.Errorf("%s changed: it is believed", name)
		}
	}
	r.forget("k")
	for _, uncertain := range []string{"/proc/self/stat", "/dev/random"} {
		if err := r.store("k", storedDocument(), []string{uncertain}, unchanged); err != nil || r.load("k") != nil {
			t.Errorf("%s: it is stored", uncertain)
		}
	}
}

func TestResultsPrune(t *testing.T) {
	r := results{t.TempDir()}
	now := time.Now()
	for i := range resultsCount + 10 {
		path := r.path(fmt.Sprintf("%04d", i))
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		used := now.Add(-time.Duration(i) * time.Minute)
		if err := os.Chtimes(path, used, used); err != nil {
			t.Fatal(err)
		}
	}
	r.prune(now)
	left := func() int {
		entries, err := os.ReadDir(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if n := left(); n != resultsCount {
		t.Errorf("%d are left, want %d", n, resultsCount)
	}
	if _, err := os.Stat(r.path("0000")); err != nil {
		t.Error("the one used last is gone")
	}
	r.prune(now.Add(resultsAge - 30*time.Second))
	if n := left(); n != 1 {
		t.Errorf("%d are left, want 1", n)
	}
}

func TestResultKey(t *testing.T) {
	one := resultKey("a", 1)
	if resultKey("a", "b") == resultKey("ab") || resultKey("a", "b c") == resultKey("a b", "c") || resultKey("a", 1) != one {
		t.Error("keys of other parts are equal, or those of equal ones are not")
	}
}
