package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A phase is a point of "perfgate check" at which a process that it started can
// be held: what of the process [holdHere] and the program of [writeHeld] match.
// The order is that in which they come.
type phase struct {
	name  string
	hold  string
	cold  bool // the standard library's probe has to be built
	edits bool // and its edited files have to be written
	dead  int  // exit status when that process is killed, 0 where it is no child of perfgate's
}

// phases are those of "perfgate check -base main -explain 1 -j 1" with two
// benchmarks, of which the second is red.
var phases = []phase{
	{name: "valgrind's version", hold: "valgrind head version 1", dead: 1},
	{name: "go env", hold: "go head env *", dead: 1},
	{name: "edits", hold: "go head env *", edits: true, dead: 1},
	{name: "standard library", hold: "go head build *", cold: true, dead: 1},
	{name: "CPU features", hold: "valgrind head probe 1", dead: 1},
	{name: "go list", hold: "go head list *", dead: 1},
	{name: "repository", hold: "git head rev-parse *", dead: 1},
	{name: "finding the ref", hold: "git head log -1 *", dead: 1},
	{name: "merge base", hold: "git head merge-base *", dead: 1},
	{name: "index of the base", hold: "git head read-tree *", dead: 1},
	{name: "checkout of the base", hold: "git head checkout-index *", dead: 1},
	{name: "child of git", hold: "child git head checkout-index *"},
	{name: "submodules of the base", hold: "git head ls-tree -r *", dead: 1},
	{name: "go.mod of the base", hold: "go base mod *", dead: 1},
	{name: "go list of the base", hold: "go base list *", dead: 1},
	{name: "changed files", hold: "git head diff *", dead: 1},
	{name: "build", hold: "go head test *", dead: 1},
	{name: "child of go", hold: "child go head test *"},
	{name: "list", hold: "list head", dead: 1},
	{name: "count", hold: "valgrind head bin 1", dead: 3},
	{name: "count of the second", hold: "valgrind head bin 6", dead: 1},
	{name: "build of the base", hold: "go base test *", dead: 1},
	{name: "list of the base", hold: "list base", dead: 1},
	{name: "count of the base", hold: "valgrind base b00 4", dead: 1},
	{name: "trailers", hold: "git head log --no-show-signature -z *", dead: 1},
	{name: "second count", hold: "valgrind head bin 9", dead: 1},
	{name: "second count of the base", hold: "valgrind base b00 5", dead: 1},
	{name: "budgets of the base", hold: "git head ls-tree -z *", dead: 1},
	{name: "build with lines", hold: "go head test *-trimpath=0*", dead: 3},
	{name: "count of lines", hold: "valgrind head din 1", dead: 3},
	{name: "build of the base with lines", hold: "go base test *-trimpath=0*", dead: 3},
	{name: "count of the base's lines", hold: "valgrind base d00 1", dead: 3},
}

// A stage is a script's folder with go and git in PATH that can be held.
type stage struct {
	ts  *testscript.TestScript
	dir string // of the files that say what to hold
}

func stageOf(ts *testscript.TestScript) stage { return stage{ts, ts.MkAbs(".hold")} }

func (s stage) path(name string) string { return filepath.Join(s.dir, name) }

// held makes the script's folder a clone of the module testdata/held on a branch
// whose Sum is slower than main's. It puts a go and a git first in PATH that wait
// where .hold/want says, write their number into .hold/held then, and go on when
// .hold/gate is written to. GOROOT becomes a folder that has such a go too.
func held(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	ts.Check(os.CopyFS(ts.MkAbs("."), os.DirFS(filepath.Join(repoRoot(), "perfgate", "testdata", "held"))))
	ts.Check(os.WriteFile(ts.MkAbs(".gitignore"), []byte(".*\n"), 0o666))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "the base"}, {"checkout", "-q", "-b", "work"}} {
		_, err := s.git(args...)
		ts.Check(err)
	}
	edit(ts, false, []string{"m.go", "return s", "return s + 0"})
	ts.Check(os.WriteFile(ts.MkAbs("costs"), []byte("Sum 1200\n"), 0o666))
	bin, root := s.path("bin"), s.path("goroot")
	ts.Check(os.MkdirAll(bin, 0o777))
	ts.Check(syscall.Mkfifo(s.path("gate"), 0o666))
	ts.Check(os.Symlink(s.dir, filepath.Join(ts.Getenv("TMPDIR"), ".hold"))) // for what runs there
	goroot := goCommandRoot(ts)
	entries, err := os.ReadDir(goroot)
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Join(root, "bin"), 0o777))
	for _, e := range entries {
		if e.Name() != "bin" {
			ts.Check(os.Symlink(filepath.Join(goroot, e.Name()), filepath.Join(root, e.Name())))
		}
	}
	git, err := exec.LookPath("git")
	ts.Check(err)
	s.writeHeld(filepath.Join(root, "bin", "go"), "go", filepath.Join(goroot, "bin", "go"))
	s.writeHeld(filepath.Join(bin, "git"), "git", git)
	ts.Check(os.Symlink(filepath.Join(root, "bin", "go"), filepath.Join(bin, "go")))
	status, err := s.git("status", "--porcelain")
	ts.Check(err)
	ts.Check(os.WriteFile(s.path("status"), []byte(status), 0o666))
	ts.Setenv("PATH", bin+string(os.PathListSeparator)+ts.Getenv("PATH"))
	ts.Setenv("GOROOT", root)
	ts.Setenv("GOTOOLCHAIN", "local")
	ts.Setenv("XDG_CACHE_HOME", s.path("cache"))
}

func goCommandRoot(ts *testscript.TestScript) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	ts.Check(err)
	return strings.TrimSpace(string(out))
}

// writeHeld writes a shell script that is the real program but for the waiting.
// The process that waits is a child of it where the word "child" comes first.
func (s stage) writeHeld(file, name, real string) {
	text := fmt.Sprintf(`#!/bin/sh
side=head
case $PWD in */tree-*) side=base ;; esac
if read -r want 2>/dev/null <'%[1]s/want'; then
	case "%[2]s $side $*" in $want)
		rm '%[1]s/want'
		echo $$ >'%[1]s/new'
		mv '%[1]s/new' '%[1]s/held'
		read -r go <'%[1]s/gate' ;;
	esac
	case "child %[2]s $side $*" in $want)
		rm '%[1]s/want'
		sh -c 'echo $$ >%[1]s/new; mv %[1]s/new %[1]s/held; read -r go <%[1]s/gate' &
		wait ;;
	esac
fi
exec '%[3]s' "$@"
`, s.dir, name, real)
	s.ts.Check(os.WriteFile(file, []byte(text), 0o777))
}

// holdHere waits if .hold/want of the script's folder, in whose tree or base the
// working folder is, names what: by the words, and how many times they come.
func holdHere(what string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	side := "head"
	if _, mirrored, ok := strings.Cut(dir, "/tree-b00"); ok {
		side, dir = "base", mirrored
	}
	for ; dir != "/" && !isDir(filepath.Join(dir, ".hold")); dir = filepath.Dir(dir) {
	}
	want := filepath.Join(dir, ".hold", "want")
	text, err := os.ReadFile(want)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	number, ok := strings.CutPrefix(string(text), "valgrind "+side+" "+what+" ")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	switch {
	case !ok || err != nil:
		return nil
	case n > 1:
		return os.WriteFile(want, fmt.Appendf(nil, "valgrind %s %s %d\n", side, what, n-1), 0o666)
	}
	made := filepath.Join(dir, ".hold", "new")
	err = errors.Join(os.Remove(want), os.WriteFile(made, fmt.Appendln(nil, os.Getpid()), 0o666), os.Rename(made, filepath.Join(dir, ".hold", "held")))
	if err == nil {
		_, err = os.ReadFile(filepath.Join(dir, ".hold", "gate"))
	}
	return err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// A held run is a perfgate one of whose processes waits.
type heldRun struct {
	stage
	name           string
	cmd            *exec.Cmd
	stdout, stderr strings.Builder
	pid            int // of the process that waits
}

func (s stage) phase(name string) phase {
	i := slices.IndexFunc(phases, func(p phase) bool { return p.name == name })
	if i < 0 {
		s.ts.Fatalf("no phase %q", name)
	}
	return phases[i]
}

// release lets the process that is held go on.
func (s stage) release() { s.ts.Check(os.WriteFile(s.path("gate"), []byte("go\n"), 0)) }

// forget makes a perfgate do all that leads to a phase.
func (s stage) forget(p phase) {
	patterns := []string{"base", "results"}
	if p.cold {
		patterns = append(patterns, "probe-*")
	}
	if p.edits {
		patterns = append(patterns, "std-*")
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(s.ts.Getenv("XDG_CACHE_HOME"), "perfgate", pattern))
		s.ts.Check(err)
		for _, f := range files {
			s.ts.Check(os.RemoveAll(f))
		}
	}
}

// hold starts a perfgate, through a command if there is one, and waits until it
// is held.
func (s stage) hold(p phase, through []string, args ...string) *heldRun {
	os.Remove(s.path("held"))
	s.ts.Check(os.WriteFile(s.path("want"), []byte(p.hold+"\n"), 0o666))
	r := s.start(p.name, through, args...)
	done := make(chan error, 1)
	go func() { done <- r.cmd.Wait() }()
	for {
		text, err := os.ReadFile(s.path("held"))
		if err == nil {
			r.pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
			s.ts.Check(err)
			break
		}
		select {
		case err := <-done:
			s.ts.Fatalf("%s: ended before it was held: %v\n%s%s", p.name, err, r.stdout.String(), r.stderr.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	r.cmd.Cancel = sync.OnceValue(func() error { return <-done })
	return r
}

func (s stage) start(name string, through []string, args ...string) *heldRun {
	r := &heldRun{stage: s, name: name}
	r.command(through, args...)
	s.ts.Check(r.cmd.Start())
	return r
}

func (r *heldRun) command(through []string, args ...string) {
	path, s := "", r.stage
	for _, dir := range filepath.SplitList(s.ts.Getenv("PATH")) {
		if file := filepath.Join(dir, "perfgate"); path == "" {
			if _, err := os.Stat(file); err == nil {
				path = file
			}
		}
	}
	args = append(append(through, path), args...)
	r.cmd = exec.Command(args[0], args[1:]...)
	r.cmd.Dir, r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = s.ts.MkAbs("."), s.env(), &r.stdout, &r.stderr
}

// env is the script's environment, as far as commands here need it.
func (s stage) env() []string {
	env := []string{}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "GOROOT", "GOTOOLCHAIN", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOWORK"} {
		env = append(env, name+"="+s.ts.Getenv(name))
	}
	return env
}

// end waits for the end of a run and demands its exit status, and that none of
// its processes is left.
func (r *heldRun) end(want int) {
	r.cmd.Cancel()
	if got := r.cmd.ProcessState.ExitCode(); got != want {
		r.ts.Fatalf("%s: exit status %d, want %d\n%s%s", r.name, got, want, r.stdout.String(), r.stderr.String())
	}
	if r.pid != 0 {
		awaitEnd(r.ts, r.pid)
	}
}

// clean demands that nothing of a run is left, in TMPDIR or in the repository.
func (s stage) clean(name string) {
	nothingLeft(s.ts, false, nil)
	status, err := s.git("status", "--porcelain")
	s.ts.Check(err)
	if want := s.ts.ReadFile(".hold/status"); status != want {
		s.ts.Fatalf("%s: git status is\n%snot\n%s", name, status, want)
	}
	stash, err := s.git("stash", "list")
	s.ts.Check(err)
	trees, err := s.git("worktree", "list")
	s.ts.Check(err)
	locks, err := filepath.Glob(s.ts.MkAbs(".git/*.lock"))
	s.ts.Check(err)
	if stash != "" || strings.Count(trees, "\n") != 1 || len(locks) > 0 {
		s.ts.Fatalf("%s: left in .git: %s%s%s", name, stash, trees, locks)
	}
}

func (s stage) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.ts.MkAbs("."), s.env()
	out, err := cmd.Output()
	return string(out), err
}

// stopped holds a check in each phase and stops it: "stopped interrupt" by what
// a user does, "stopped perfgate" by killing it, and "stopped child" by killing
// the process that is held. More arguments are the only phases.
func stopped(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	for i, p := range phases {
		if len(args) > 1 && !slices.Contains(args[1:], p.name) {
			continue
		}
		if args[0] == "child" && p.dead == 0 {
			continue
		}
		begun := time.Now()
		s.forget(p)
		r := s.hold(p, nil, "check", "-base", "main", "-explain", "1", "-j", "1")
		switch args[0] {
		case "interrupt":
			signal := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}[i%3]
			ts.Check(r.cmd.Process.Signal(signal))
			r.end(1)
			if r.stdout.String() != "" || !strings.HasSuffix(r.stderr.String(), "perfgate: interrupted: nothing was judged or written\n") {
				ts.Fatalf("%s: %v: got %q\n%s", p.name, signal, r.stdout.String(), r.stderr.String())
			}
			s.clean(p.name)
		case "perfgate":
			ts.Check(r.cmd.Process.Kill())
			if p.dead == 0 { // the next one ends it
				r.cmd.Cancel()
				next := s.start(p.name, nil, "run", "-bench", "None")
				next.cmd.Wait()
				s.clean(p.name)
			}
			r.end(-1)
		case "child":
			ts.Check(syscall.Kill(r.pid, syscall.SIGKILL))
			r.end(p.dead)
			if all := r.stdout.String() + r.stderr.String(); !strings.Contains(all, "signal: killed") {
				ts.Fatalf("%s: does not say that it was killed:\n%s", p.name, all)
			}
			s.clean(p.name)
		}
		ts.Logf("%s: %v", p.name, time.Since(begun).Round(time.Millisecond))
	}
}

// filled demands what a perfgate does when a disk becomes full in a phase:
// filled folder phase status pattern command... The folder is a small disk of its
// own as long as perfgate runs, and has then what was left there.
func filled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: filled folder phase status text command...")
	}
	s, dir, name := stageOf(ts), ts.MkAbs(args[0]), args[1]
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	p := s.phase(name)
	s.forget(p)
	keep := s.path("keep")
	ts.Check(os.RemoveAll(keep))
	ts.Check(exec.Command("cp", "-a", dir, keep).Run())
	r := s.hold(p, []string{"unshare", "-m", "sh", "-c", `
dir=$0 keep=$1
shift
mount -t tmpfs -o size=64m none "$dir" && cp -a "$keep/." "$dir" || exit 99
"$@"
status=$?
rm -rf "$keep"
rm "$dir/fill"
cp -a "$dir" "$keep" || exit 99
exit $status`, dir, keep}, args[4:]...)
	ts.Check(fill(fmt.Sprintf("/proc/%d/root%s/fill", r.cmd.Process.Pid, dir)))
	s.release()
	r.end(want)
	all := r.stdout.String() + r.stderr.String()
	ts.Logf("%s full at %s: %s", filepath.Base(dir), name, all)
	if !regexp.MustCompile("(?s)" + args[3]).MatchString(all) {
		ts.Fatalf("filled: %s: does not match %q:\n%s", name, args[3], all)
	}
	ts.Check(os.RemoveAll(dir))
	ts.Check(os.Rename(keep, dir))
	s.clean(name)
}

// fill writes to a file until its disk is full.
func fill(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err = f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("filling a disk: %w", err)
	}
	return nil
}

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

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
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
