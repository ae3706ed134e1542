package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestPrograms(t *testing.T) {
	for _, p := range []struct {
		name string
		lib  func() (build, error)
		args []string
	}{
		{"readme", installed, nil},
		{"layers", installed, nil},
		{"stress", installed, []string{"1000"}},
		{"wild", installed, nil},
		{"misuse", hooked, nil},
	} {
		t.Run(p.name, func(t *testing.T) {
			exe := compile(t, library(t, p.lib), p.name)
			// The collector runs all the time, and must not take a handle for an
			// address.
			out, err := output(t.Context(), t.TempDir(), []string{"GOGC=1"}, exe, p.args...)
			if err != nil || out != p.name+": ok\n" {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
}

// found is the exit status of a program in which memcheck found something.
const found = 99

// memcheckArgs run a program under memcheck. The log goes to a file.
func memcheckArgs(log string) []string {
	return []string{
		"--tool=memcheck",
		"--log-file=" + log,
		fmt.Sprintf("--error-exitcode=%d", found),
		// What the library lost is an error. Not what is possibly lost: the C
		// library's blocks for threads of the Go runtime, which never end, are
		// only pointed into.
		"--leak-check=full",
		"--show-leak-kinds=definite",
		"--errors-for-leak-kinds=definite",
		// Functions of their own alone are frames, so that a suppression does
		// not depend on how much DWARF 5 a release of valgrind can read.
		"--read-inline-info=no",
		"--num-callers=40",
		"--gen-suppressions=all",
		"--show-error-list=yes", // with the suppressions that were used
		"--suppressions=" + filepath.Join("testdata", "memcheck.supp"),
	}
}

// memcheckEnv is the whole environment of a program under memcheck: no options
// for valgrind come from elsewhere.
var memcheckEnv = []string{
	"GODEBUG=" +
		// valgrind's CPUID claims RDTSCP, and its decoder refuses it where the
		// host lacks it.
		"cpu.rdtscp=off," +
		// A preempting signal returns to a call that it has pushed on the
		// goroutine's stack; valgrind, which did not see SP move, holds the
		// frame for unused memory.
		"asyncpreemptoff=1," +
		// The collector halves stacks that are not full, when it happens to
		// run: the suppressed report again, from stacks that differ each time.
		"gcshrinkstackoff=1",
}

// memcheck runs a program under memcheck and returns its exit status and the
// log.
func memcheck(t *testing.T, exe string, args ...string) (int, string) {
	t.Helper()
	need(t, "valgrind")
	log := filepath.Join(t.TempDir(), "log")
	_, err := output(t.Context(), ".", memcheckEnv, "valgrind", append(append(memcheckArgs(log), exe), args...)...)
	code := status(t, err)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

// suppression is how the log names a suppression that was used.
var suppression = regexp.MustCompile(`used_suppression: +\d+ (\S+) `)

func TestMemcheck(t *testing.T) {
	used := map[string]bool{}
	clean := func(t *testing.T, exe string, args ...string) {
		code, log := memcheck(t, exe, args...)
		if code != 0 || !strings.Contains(log, "definitely lost: 0 bytes in 0 blocks") && !strings.Contains(log, "no leaks are possible") {
			t.Errorf("exit status %d\n%s", code, log)
		}
		for _, m := range suppression.FindAllStringSubmatch(log, -1) {
			used[m[1]] = true
		}
	}
	for _, name := range []string{"readme", "layers"} {
		t.Run(name, func(t *testing.T) { clean(t, compile(t, library(t, installed), name)) })
	}
	t.Run("stress", func(t *testing.T) { clean(t, compile(t, library(t, installed), "stress"), "10") })
	t.Run("misuse", func(t *testing.T) { clean(t, compile(t, library(t, hooked), "misuse")) })
	t.Run("planted", func(t *testing.T) {
		exe := compile(t, library(t, hooked), "planted")
		clean(t, exe, "none")
		for bug, want := range map[string]string{
			"overrun": `Invalid write of size \d+\n.*runtime\.memmove(?s:.*)inside a block of size 40 alloc'd|Invalid write of size \d+\n.*runtime\.memmove(?s:.*)0 bytes after a block of size 40 alloc'd`,
			"leak":    `40 bytes in 1 blocks are definitely lost in loss record .*\n.* malloc .*\n.*_Cmalloc `,
		} {
			code, log := memcheck(t, exe, bug)
			if code != found || !regexp.MustCompile(want).MatchString(log) {
				t.Errorf("%s: exit status %d\n%s", bug, code, log)
			}
		}
	})
	if t.Failed() || t.Skipped() || len(used) == 0 {
		return
	}
	for _, name := range suppressions(t) {
		if !used[name] {
			t.Errorf("suppression %s: nothing used it", name)
		}
	}
}

// suppressions returns the names in memcheck.supp, and refuses entries that do
// not name each frame, or come without a reason.
func suppressions(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/memcheck.supp")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n}")) {
		comment, body, ok := strings.Cut(strings.TrimSpace(string(entry)), "{\n")
		if !ok {
			continue
		}
		lines := strings.Fields(strings.TrimSuffix(body, "}"))
		name := lines[0]
		names = append(names, name)
		if strings.Count(comment, "#") < 2 {
			t.Errorf("suppression %s: no reason above it", name)
		}
		for _, frame := range lines[2:] {
			if !strings.HasPrefix(frame, "fun:") || strings.ContainsAny(frame, "*?") || len(lines) < 5 {
				t.Errorf("suppression %s: frame %s is not a function, or the stack is too short", name, frame)
			}
		}
	}
	return names
}

func TestSuppressions(t *testing.T) {
	if n := len(suppressions(t)); n != 1 {
		t.Errorf("%d suppressions, want 1", n)
	}
}

// Under fips140=only encryption is an error, and not the end of the process.
func TestFIPS(t *testing.T) {
	exe := compile(t, library(t, hooked), "driver")
	lines := "new 1\n" +
		"encrypt e0 " + strings.Repeat("00", 32) + " = = 64\n" +
		"decrypt e0 " + strings.Repeat("00", 32) + " = " + strings.Repeat("00", 28) + " 64\n" +
		"derive " + strings.Repeat("00", 16) + " 00 64 32\n" +
		"compress = 64\n"
	for mode, want := range map[string][]int{"on": {0, 0, 4, 0, 0}, "only": {0, 1, 1, 0, 0}} {
		c := exec.CommandContext(t.Context(), exe)
		c.Env = []string{"GODEBUG=fips140=" + mode}
		c.Stdin = strings.NewReader(lines)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", mode, err, out)
		}
		answers := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(answers) != len(want) {
			t.Fatalf("%s: got %q", mode, answers)
		}
		for i, line := range answers {
			if prefix := fmt.Sprintf("code=%d ", want[i]); !strings.HasPrefix(line, prefix) {
				t.Errorf("fips140=%s: call %d: got %s, want %s", mode, i, line, prefix)
			}
		}
	}
}
