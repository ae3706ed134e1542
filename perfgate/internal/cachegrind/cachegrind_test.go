//go:build unix

package cachegrind

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

func TestOlder(t *testing.T) {
	tests := []struct {
		v, w string
		want bool
	}{
		{"3.17.0", "3.17", false},
		{"3.17", "3.17", false},
		{"3.16.1", "3.17", true},
		{"3.9.9", "3.17", true},
		{"3.100", "3.17", false},
		{"4.0", "3.17", false},
		{"4", "3.17", false},
		{"3", "3.17", true},
		{"2.99", "3.17", true},
		{"3.25.0.GIT", "3.17", false},
		{"", "3.17", true},
	}
	for _, test := range tests {
		if got := older(test.v, test.w); got != test.want {
			t.Errorf("older(%q, %q): got %v, want %v", test.v, test.w, got, test.want)
		}
	}
}

// script writes a shell script and returns its path.
func script(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	says := func(version string) string { return "test \"$1\" = --version && echo '" + version + "'\n" }
	tests := []struct {
		name         string
		wrapper, bin string // text of valgrind and valgrind.bin; "" for none
		mode         os.FileMode
		version      string
		usesBin      bool
		want         string // part of the error
	}{
		{name: "plain", wrapper: says("valgrind-3.19.0"), version: "3.19.0"},
		{name: "oldest", wrapper: says("valgrind-3.17.0"), version: "3.17.0"},
		{name: "candidate", wrapper: says("valgrind-3.26.0-RC1"), version: "3.26.0"},
		{name: "wrapper", wrapper: says("valgrind-1.0"), bin: says("valgrind-3.19.0"), mode: 0o755, version: "3.19.0", usesBin: true},
		{name: "bin cannot be executed", wrapper: says("valgrind-3.19.0"), bin: says("valgrind-1.0"), mode: 0o644, version: "3.19.0"},
		{name: "none", want: "valgrind is not installed: `apt-get install valgrind`"},
		{name: "only bin", bin: says("valgrind-3.19.0"), mode: 0o755, want: "valgrind is not installed"},
		{name: "too old", wrapper: says("valgrind-3.16.1"), want: "is too old: 3.17 or later is needed"},
		{name: "garbage", wrapper: says("hello"), want: `for its version: it says "hello"`},
		{name: "garbage behind the name", wrapper: says("valgrind-next"), want: `it says "valgrind-next"`},
		{name: "no version", wrapper: says("valgrind-"), want: `it says "valgrind-"`},
		{name: "more than a version", wrapper: says("valgrind-3.19.0\nwarning: x"), want: `it says "valgrind-3.19.0"`},
		{name: "silent", wrapper: "exit 0\n", want: `it says ""`},
		{name: "fails", wrapper: "echo valgrind-3.19.0; exit 3\n", want: "for its version: exit status 3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			path := filepath.Join(dir, "valgrind")
			if test.wrapper != "" {
				script(t, path, test.wrapper, 0o755)
			}
			if test.bin != "" {
				script(t, path+".bin", test.bin, test.mode)
			}
			if test.usesBin {
				path += ".bin"
			}
			v, err := Find(t.Context())
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, %v, want %q in the error", v, err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if v.Path != path || v.Version != test.version {
				t.Errorf("got %v, want %s %s", *v, path, test.version)
			}
		})
	}
}

// TestFindRelative: exec refuses programs that PATH finds in the working
// folder; a path that depends on the folder would break in another one.
func TestFindRelative(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	script(t, "valgrind", "echo valgrind-3.19.0\n", 0o755)
	t.Setenv("PATH", ".")
	if v, err := Find(t.Context()); err == nil && !filepath.IsAbs(v.Path) {
		t.Errorf("got %s, want an absolute path or an error", v.Path)
	}
}

func TestDiagnose(t *testing.T) {
	const instruction = "the program died of an instruction that this valgrind cannot decode; install a newer valgrind, or lower GOAMD64"
	tests := []struct{ log, want string }{
		{"", ""},
		{"==1== Command: ./bench.test\n==1== \n==1== I   refs:      123\n", ""},
		{"==1== Process terminating with default action of signal 9 (SIGKILL)\n", ""},
		{"==1== Process terminating with default action of signal 4 (SIGILL)\n", instruction},
		{"==1== valgrind: Unrecognised instruction at address 0x40007b.\n", instruction},
		{"vex amd64->IR: unhandled instruction bytes: 0x62 0xF1 0xFE 0x8\n", instruction},
		{"vex: the `impossible' happened:\n   isZeroU\n", "valgrind itself failed: vex: the `impossible' happened:"},
		{"x\nvalgrind: m_mallocfree.c:303: the 'impossible' happened.\ny\n", "valgrind itself failed: valgrind: m_mallocfree.c:303: the 'impossible' happened."},
		{"==1==\n==1==     Valgrind has to exit now.  Sorry.  Bye!\n", "valgrind itself failed: ==1==     Valgrind has to exit now.  Sorry.  Bye!"},
		{"==1==     Valgrind's memory management: out of memory:\n", "valgrind ran out of memory"},
		{"valgrind: failed to start tool 'cachegrind' for platform 'amd64-linux': No such file or directory\n", "valgrind does not start: valgrind: failed to start tool 'cachegrind' for platform 'amd64-linux': No such file or directory"},
		{"valgrind: Unknown option: --vex-guest-chase=no\nvalgrind: Use --help\n", "valgrind does not start: valgrind: Unknown option: --vex-guest-chase=no"},
		{"valgrind: Bad option: --cache-sim=no\n", "valgrind does not start: valgrind: Bad option: --cache-sim=no"},
	}
	for _, test := range tests {
		if got := diagnose(test.log); got != test.want {
			t.Errorf("%q: got %q, want %q", test.log, got, test.want)
		}
	}
}

// TestRunFake: what valgrind may do that it should not.
func TestRunFake(t *testing.T) {
	const arguments = `for a; do case $a in --log-file=*) log=${a#*=};; --cachegrind-out-file=*) out=${a#*=};; esac; done
`
	tests := []struct {
		name, text string
		status     string
		want       string // part of the error; "" for none
	}{
		{name: "well", text: `printf 'events: Ir\nfn=a\n1 5\nsummary: 5\n' >$out`},
		{name: "no file", text: `echo trouble >$log`, want: "valgrind wrote no counts (is the disk full?): trouble"},
		{name: "cut file", text: `printf 'events: Ir\nfn=a\n' >$out`, want: "reading valgrind's counts (is the disk full?): the file ends too early"},
		{name: "nonzero status with a whole file", text: `printf 'events: Ir\nfn=a\n1 5\nsummary: 5\n' >$out; exit 2`, status: "exit status 2"},
		{name: "killed with a whole file", text: `printf 'events: Ir\nfn=a\n1 5\nsummary: 5\n' >$out; kill -9 $$`, status: "signal: killed"},
		{name: "instruction", text: `echo 'Process terminating with default action of signal 4 (SIGILL)' >$log; exit 2`, status: "exit status 2", want: "instruction that this valgrind cannot decode"},
		{name: "no such tool", text: `echo "valgrind: failed to start tool 'cachegrind'" >&2; exit 1`, status: "exit status 1", want: "valgrind does not start"},
		{name: "the program says so", text: `echo "my Bad option" >&2; exit 1`, status: "exit status 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			scratch := t.TempDir()
			// Files of an earlier run must not count.
			for _, name := range []string{"counts", "log"} {
				if err := os.WriteFile(filepath.Join(scratch, name), []byte("events: Ir\nfn=a\n1 7\nsummary: 7\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			v := &Valgrind{Path: script(t, filepath.Join(t.TempDir(), "valgrind"), arguments+test.text+"\n", 0o755), Version: "3.19.0"}
			r, err := v.Run(t.Context(), process.Command{Path: "program"}, scratch, time.Minute)
			if r.Status != test.status {
				t.Errorf("got status %q, want %q", r.Status, test.status)
			}
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in the error", err, test.want)
			}
			if want := int64(5); err == nil && r.Status == "" && r.Total != want {
				t.Errorf("got %d, want %d", r.Total, want)
			}
		})
	}
}

// installed returns the real valgrind. Only where it is truly missing, and CI
// does not say that it should not be, a test is skipped.
func installed(t *testing.T) *Valgrind {
	t.Helper()
	v, err := Find(t.Context())
	if _, missing := exec.LookPath("valgrind"); missing != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValgrind(t *testing.T) {
	if testing.Short() {
		t.Skip("runs valgrind")
	}
	v := installed(t)
	run := func(limit time.Duration, args ...string) (count.Result, error) {
		return v.Run(t.Context(), process.Command{Path: "/bin/sh", Args: args, Dir: t.TempDir(), Env: []string{"A=b"}}, t.TempDir(), limit)
	}
	t.Run("equal", func(t *testing.T) {
		var got [2]count.Result
		for i := range got {
			var err error
			if got[i], err = run(time.Minute, "-c", `i=0; while test $i -lt 100; do i=$((i+1)); done; echo out; echo err >&2`); err != nil {
				t.Fatal(err)
			}
		}
		a := got[0]
		if a.Total != got[1].Total || a.Total <= 0 || a.Status != "" {
			t.Errorf("got %d and %d, status %q, want equal counts", a.Total, got[1].Total, a.Status)
		}
		if string(a.Stdout) != "out\n" || string(a.Stderr) != "err\n" {
			t.Errorf("got output %q and %q, want the program's alone", a.Stdout, a.Stderr)
		}
	})
	t.Run("status", func(t *testing.T) {
		for script, want := range map[string]string{"exit 7": "exit status 7", "kill -9 $$": "signal: killed"} {
			r, err := run(time.Minute, "-c", script)
			if err != nil || !strings.HasPrefix(r.Status, want) {
				t.Errorf("%s: got %q, %v, want %q", script, r.Status, err, want)
			}
		}
	})
	t.Run("missing program", func(t *testing.T) {
		r, err := v.Run(t.Context(), process.Command{Path: "/nonexistent"}, t.TempDir(), time.Minute)
		if err == nil && r.Status == "" {
			t.Errorf("got %d, want an error or a status", r.Total)
		}
	})
	t.Run("limit", func(t *testing.T) {
		mark := filepath.Join(t.TempDir(), "mark")
		const limit = 500 * time.Millisecond
		_, err := run(limit, "-c", "while :; do :; done", mark)
		if e, ok := errors.AsType[count.ErrTimeout](err); !ok || e.Limit != limit {
			t.Fatalf("got %v, want that the time is over", err)
		}
		commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands {
			// One that cannot be read has ended.
			if line, err := os.ReadFile(c); err == nil && strings.Contains(string(line), mark) {
				t.Errorf("%s still lives: %q", c, line)
			}
		}
	})
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		cancel(cause)
		if _, err := v.Run(ctx, process.Command{Path: "/bin/true"}, t.TempDir(), time.Minute); err != cause {
			t.Errorf("got %v, want %v", err, cause)
		}
	})
}
