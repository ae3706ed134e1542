//go:build unix

package main

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// stopCommands are the commands of scripts that stop a perfgate.
var stopCommands = map[string]func(*testscript.TestScript, bool, []string){
	"held":    held,
	"stopped": stopped,
	"filled":  filled,
	"stuck":   stuck,
	"beside":  beside,
}

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

func (s stage) phase(name string) phase {
	i := slices.IndexFunc(phases, func(p phase) bool { return p.name == name })
	if i < 0 {
		s.ts.Fatalf("no phase %q", name)
	}
	return phases[i]
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
