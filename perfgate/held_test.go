//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

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

// A held run is a perfgate one of whose processes waits.
type heldRun struct {
	stage
	name           string
	cmd            *exec.Cmd
	stdout, stderr strings.Builder
	pid            int // of the process that waits
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
