//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// stuck demands that Ctrl-C ends a perfgate that waits for somebody to read its
// report or for another program's lock: stuck pipe, stuck stdout, stuck budgets.
func stuck(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: stuck pipe|stdout|budgets")
	}
	s := stageOf(ts)
	r := &heldRun{stage: s, name: args[0]}
	// A pipe that is full already: nothing more can be written.
	file := ts.MkAbs(".out/" + args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o777))
	ts.Check(syscall.Mkfifo(file, 0o666))
	pipe, err := os.OpenFile(file, os.O_RDWR, 0)
	ts.Check(err)
	defer pipe.Close()
	for ; err == nil; _, err = pipe.Write(make([]byte, 4096)) {
		ts.Check(pipe.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)))
	}
	check := []string{"check", "-base", "main", "-explain", "0", "-o", "json=.out/first", "-o"}
	there := func() bool { return isOpen(r.cmd.Process.Pid, file) }
	switch args[0] {
	case "pipe":
		r.command(nil, append(check, "json="+file)...)
	case "stdout": // is written last
		r.command(nil, append(check, "json=.out/last")...)
		r.cmd.Stdout = pipe
		there = func() bool { _, err := os.Stat(ts.MkAbs(".out/last")); return err == nil }
	case "budgets":
		dir, err := os.Open(filepath.Dir(file))
		ts.Check(err)
		defer dir.Close()
		ts.Check(syscall.Flock(int(dir.Fd()), syscall.LOCK_EX))
		r.command(nil, "update", "-baselines", ".out/baselines.json")
		there = func() bool { return isOpen(r.cmd.Process.Pid, filepath.Dir(file)) }
	}
	ts.Check(r.cmd.Start())
	for !there() && alive(r.cmd.Process.Pid) {
		time.Sleep(10 * time.Millisecond)
	}
	ts.Check(r.cmd.Process.Signal(os.Interrupt))
	killed := time.AfterFunc(time.Minute, func() { r.cmd.Process.Kill() }) // to say what is wrong
	defer killed.Stop()
	r.cmd.Cancel = sync.OnceValue(r.cmd.Wait)
	r.end(1)
	if !strings.HasSuffix(r.stderr.String(), "perfgate: interrupted: nothing was judged or written\n") {
		ts.Fatalf("stuck: %s: got %s", args[0], r.stderr.String())
	}
	nothingLeft(ts, false, nil)
}

// isOpen reports whether a process has a file open.
func isOpen(pid int, file string) bool {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(links, func(l string) bool {
		to, err := os.Readlink(l)
		return err == nil && to == file
	})
}

// beside runs a command from start to end while another perfgate is held in a
// phase: beside phase command... [and command...]. Of the same command both must
// say the same.
func beside(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	p := s.phase(args[0])
	s.forget(p)
	one, two := args[1:], args[1:]
	if i := slices.Index(args, "and"); i > 0 {
		one, two = args[1:i], args[i+1:]
	}
	first := s.hold(p, nil, append(one[:len(one):len(one)], "-j", "1")...)
	s.forget(p)
	second := s.start(p.name, nil, append(two[:len(two):len(two)], "-j", "1")...)
	second.cmd.Wait()
	s.release()
	status := second.cmd.ProcessState.ExitCode()
	first.end(status)
	a, b := s.plain(first), s.plain(second)
	ts.Logf("beside %s: exit status %d\n%s%s", p.name, status, b, second.stderr.String())
	if slices.Equal(one, two) && a != b {
		ts.Fatalf("beside: %s: held:\n%s\nbeside it:\n%s", p.name, a, b)
	}
}

// plain is what a run printed but for what may differ: the time, and how
// much it found measured by the other.
func (s stage) plain(r *heldRun) string {
	return regexp.MustCompile(`[0-9.]+ s\n|"(seconds|valgrind_starts)": .*`).ReplaceAllString(r.stdout.String(), "")
}
