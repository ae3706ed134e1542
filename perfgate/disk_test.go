//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

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
