//go:build linux

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test binary a process that runs a command and waits, for
// TestParentDeath to kill.
func TestMain(m *testing.M) {
	if script := os.Getenv("PROCESS_TEST_PARENT"); script != "" {
		_, err := Run(context.Background(), shell(script))
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func shell(script string, args ...string) Command {
	return Command{Path: "/bin/sh", Args: append([]string{"-c", script, "sh"}, args...), Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// alive reports whether a process exists that is not a zombie.
func alive(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// await polls until done, and fails after a time that no machine needs.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for start := time.Now(); !done(); runtime.Gosched() {
		if time.Since(start) > time.Minute {
			t.Fatalf("waited for a minute: %s", what)
		}
	}
}

// pids reads process identifiers, once a script has written that many lines.
func pids(t *testing.T, file string, n int) []int {
	t.Helper()
	var found []int
	await(t, "no process identifiers in "+file, func() bool {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("\n")) == n
	})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, pid)
	}
	return found
}

func awaitGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		await(t, fmt.Sprintf("process %d still lives", pid), func() bool { return !alive(t, pid) })
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	c := shell(`pwd; echo "$1 $NAME"; cat; echo trouble >&2`, "a b")
	c.Dir = dir
	c.Env = append(c.Env, "NAME=value")
	out, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out.Stdout), real+"\na b value\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := string(out.Stderr); got != "trouble\n" {
		t.Errorf("got %q, want %q", got, "trouble\n")
	}
}

func TestRunEnvironment(t *testing.T) {
	t.Setenv("PROCESS_TEST_INHERITED", "yes")
	for _, env := range [][]string{nil, {}, {"ONLY=this"}} {
		out, err := Run(t.Context(), Command{Path: "/usr/bin/env", Env: env})
		if want := strings.Join(append(env, ""), "\n"); err != nil || string(out.Stdout) != want {
			t.Errorf("%q: got %q, %v, want %q", env, out.Stdout, err, want)
		}
	}
}

func TestRunStatus(t *testing.T) {
	tests := []struct {
		script, want string
	}{
		{"exit 7", "exit status 7"},
		{"kill -9 $$", "signal: killed"},
		{"kill -SEGV $$", "signal: segmentation fault"},
	}
	for _, test := range tests {
		out, err := Run(t.Context(), shell("echo before; "+test.script))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || !Died(err) {
			t.Errorf("%s: got %v, died %v, want %s", test.script, err, Died(err), test.want)
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Success() {
			t.Errorf("%s: got %T, want an exit error", test.script, err)
		}
		if string(out.Stdout) != "before\n" {
			t.Errorf("%s: got output %q, want it beside the error", test.script, out.Stdout)
		}
	}
}

func TestRunMissing(t *testing.T) {
	_, err := Run(t.Context(), Command{Path: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, os.ErrNotExist) || Died(err) {
		t.Errorf("got %v, died %v, want that there is no such file", err, Died(err))
	}
}

func TestRunOutputCap(t *testing.T) {
	const more = 1000
	script := fmt.Sprintf("head -c %d /dev/zero", maxOutput)
	out, err := Run(t.Context(), shell(script))
	if err != nil || len(out.Stdout) != maxOutput {
		t.Errorf("got %d bytes, %v, want %d", len(out.Stdout), err, maxOutput)
	}
	out, err = Run(t.Context(), shell(fmt.Sprintf("%s; head -c %d /dev/zero", script, more)))
	if want := "printed more than 64 MiB"; err == nil || err.Error() != want || len(out.Stdout) != maxOutput {
		t.Errorf("got %d bytes, %v, want %d, %s", len(out.Stdout), err, maxOutput, want)
	}
}

// TestRunLeavesNothing: what a child left running ends with it, although it
// holds the output.
func TestRunLeavesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	out, err := Run(t.Context(), shell(`sleep 1000 & echo $! >>"$1"; (sleep 1000 & echo $! >>"$1"); echo done`, file))
	if err != nil || string(out.Stdout) != "done\n" {
		t.Errorf("got %q, %v, want done", out.Stdout, err)
	}
	awaitGone(t, pids(t, file, 2))
}

// TestRunEscaped: a process that left the group cannot be found, but it cannot
// hold up Run either.
func TestRunEscaped(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "pids")
	out, err := Run(t.Context(), shell(`setsid sh -c 'echo $$ >>"$0"; exec sleep 1000' "$1" & while ! test -s "$1"; do :; done; echo done`, file))
	for _, pid := range pids(t, file, 1) {
		defer syscall.Kill(pid, syscall.SIGKILL)
	}
	if want := "it left a process running that holds its output"; err == nil || err.Error() != want || string(out.Stdout) != "done\n" {
		t.Errorf("got %q, %v, want done, %s", out.Stdout, err, want)
	}
}

func TestRunContext(t *testing.T) {
	const script = `sleep 1000 & echo $! >>"$1"; sh -c 'sleep 1000 & echo $! >>"$0"; echo $$ >>"$0"; wait' "$1" & echo $$ >>"$1"; echo begun; wait`
	file := filepath.Join(t.TempDir(), "pids")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var out Output
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out, err = Run(ctx, shell(script, file))
	}()
	all := pids(t, file, 4)
	cancel(cause)
	<-ended
	if err != cause || string(out.Stdout) != "begun\n" {
		t.Errorf("got %q, %v, want begun, %v", out.Stdout, err, cause)
	}
	awaitGone(t, all)

	if _, err := Run(ctx, shell("exit 0")); err != cause {
		t.Errorf("started when it was over: got %v, want %v", err, cause)
	}
}

// TestRunDeadline: a program that ignores signals is killed all the same.
func TestRunDeadline(t *testing.T) {
	cause := errors.New("too long")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, cause)
	defer cancel()
	if _, err := Run(ctx, shell("trap '' TERM INT HUP; while :; do :; done")); err != cause {
		t.Errorf("got %v, want %v", err, cause)
	}
}

// TestParentDeath: the kernel ends a child whose perfgate was killed.
func TestParentDeath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), "PROCESS_TEST_PARENT=echo $$ >>'"+file+"'; exec sleep 1000")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := pids(t, file, 1)
	if !alive(t, child[0]) {
		t.Fatal("the child did not start")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait()
	awaitGone(t, child)
}

// TestEndUsersOf: only what was given a folder below that one, and its own
// children too.
func TestEndUsersOf(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pids")
	start := func(env string) *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", `sleep 1000 & echo $! >>"$1"; echo $$ >>"$1"; wait`, "sh", file)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), env}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	for i, variable := range folderVariables {
		cmd := start(variable + "=" + filepath.Join(dir, "x"))
		all := pids(t, file, 2*(i+1))
		EndUsersOf(dir)
		cmd.Wait()
		awaitGone(t, all)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	cmds := []*exec.Cmd{start("PWD=" + filepath.Join(dir, "x")), start("HOME=" + dir + "x/y")}
	for _, pid := range pids(t, file, 4) {
		defer syscall.Kill(pid, syscall.SIGKILL)
	}
	EndUsersOf(dir)
	for _, cmd := range cmds {
		if !alive(t, cmd.Process.Pid) {
			t.Errorf("%v was killed, which has no folder there", cmd.Env)
		}
	}
}
