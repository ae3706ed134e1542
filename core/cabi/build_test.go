package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// scratch is where the libraries and programs of this run are built.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cabi")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		scratch = dir
		return m.Run()
	}())
}

// need skips a test without its programs, on a developer's machine only.
func need(tb testing.TB, programs ...string) {
	tb.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("CI") == "true" {
				tb.Fatalf("%s is missing: in CI nothing is skipped", p)
			}
			tb.Skipf("%s is missing", p)
		}
	}
}

// output runs a program in dir and returns what it prints.
func output(ctx context.Context, dir string, env []string, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = dir
	c.Env = env
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// environ is our environment without what an outer make left in it.
func environ(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") || strings.HasPrefix(v, "GNUMAKEFLAGS=")
	})
	return append(env, more...)
}

// A build is a library with what it takes to compile a program against it.
type build struct {
	lib   string   // the folder of libcachekit.so
	flags []string // for gcc
}

// installed is what users get: make install-ffi, with the flags that the
// pkg-config file has.
var installed = sync.OnceValues(func() (build, error) {
	ctx := context.Background()
	prefix := filepath.Join(scratch, "usr")
	if _, err := output(ctx, "../..", environ(), "make", "install-ffi", "PREFIX="+prefix, "FFI="+filepath.Join(scratch, "ffi")); err != nil {
		return build{}, err
	}
	pc, err := os.ReadFile(filepath.Join(prefix, "lib/pkgconfig/cachekit.pc"))
	if err != nil {
		return build{}, err
	}
	b := build{lib: filepath.Join(prefix, "lib")}
	b.flags, err = packageFlags(string(pc))
	return b, err
})

// packageFlags returns the flags of a pkg-config file.
func packageFlags(pc string) ([]string, error) {
	vars := map[string]string{}
	expand := func(s string) string { return os.Expand(s, func(name string) string { return vars[name] }) }
	var flags []string
	for line := range strings.Lines(pc) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.ContainsAny(name, ": ") {
			vars[name] = expand(value)
		}
		if name, value, ok := strings.Cut(line, ": "); ok && (name == "Cflags" || name == "Libs") {
			flags = append(flags, strings.Fields(expand(value))...)
		}
	}
	if len(flags) != 3 {
		return nil, fmt.Errorf("pkg-config file with the flags %q", flags)
	}
	return flags, nil
}

// hooked is the library with hooks.go, and cgo's own header beside it.
var hooked = sync.OnceValues(func() (build, error) {
	dir := filepath.Join(scratch, "hooked")
	_, err := output(context.Background(), ".", environ("CGO_ENABLED=1"), "go", "build", "-tags", "cachekit_hooks",
		"-buildmode=c-shared", "-o", filepath.Join(dir, "libcachekit.so"), ".")
	return build{dir, []string{"-Iinclude", "-Itestdata", "-L" + dir, "-lcachekit"}}, err
})

// library builds a library once, and skips a test that cannot.
func library(tb testing.TB, once func() (build, error)) build {
	tb.Helper()
	need(tb, "gcc", "make")
	b, err := once()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// compile returns the path of a C program of testdata, linked with b.
func compile(tb testing.TB, b build, name string) string {
	tb.Helper()
	exe := filepath.Join(tb.TempDir(), name)
	args := []string{"-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-g", "-pthread", "-o", exe, "testdata/" + name + ".c"}
	args = append(args, b.flags...)
	if _, err := output(tb.Context(), ".", environ(), "gcc", append(args, "-Wl,-rpath,"+b.lib)...); err != nil {
		tb.Fatal(err)
	}
	return exe
}

// status returns the exit status in err, and fails on any other error.
func status(tb testing.TB, err error) int {
	tb.Helper()
	var exit *exec.ExitError
	if err == nil {
		return 0
	}
	if !errors.As(err, &exit) || !exit.Exited() {
		tb.Fatal(err)
	}
	return exit.ExitCode()
}
