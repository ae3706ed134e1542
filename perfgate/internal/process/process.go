// Package process starts child processes that do not outlive perfgate: they are
// killed with all their children when the context ends, and, on Linux, by the
// kernel when perfgate itself is killed.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

// maxOutput bounds what is kept of each of a child's output streams, in bytes.
const maxOutput = 64 << 20

// A Command is a program to run to its end. Standard input is empty.
type Command struct {
	Path string
	Args []string // without the program's name
	Dir  string
	Env  []string // the whole environment, nothing is inherited
}

// An Output is what a command wrote.
type Output struct {
	Stdout, Stderr []byte
}

// Run runs c and returns its output, also beside an error.
//
// The error wraps an [*exec.ExitError] when the program ran and did not exit
// with status 0, and [context.Cause] of ctx when ctx ended first; the whole
// process group of the child is gone then.
func Run(ctx context.Context, c Command) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, context.Cause(ctx)
	}
	// The kernel sends the parent-death signal when the thread that started
	// the child ends, so the thread must stay until the child has.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	stdout, stderr := new(capped), new(capped)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return Output{}, err
	}
	stop := context.AfterFunc(ctx, func() { killGroup(cmd.Process) })
	err := cmd.Wait()
	interrupted := !stop()
	killGroup(cmd.Process) // what the child left running
	out := Output{stdout.Bytes(), stderr.Bytes()}
	switch {
	case interrupted && err != nil:
		return out, context.Cause(ctx)
	case err != nil:
		return out, err
	case stdout.full || stderr.full:
		return out, fmt.Errorf("printed more than %d MiB", maxOutput>>20)
	}
	return out, nil
}

// Died reports whether err is the exit of a program that a signal ended, or
// that ended with another status than 0.
func Died(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}

// capped keeps the first maxOutput bytes written to it and drops the rest.
type capped struct {
	bytes.Buffer
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := maxOutput - c.Len()
	if len(p) > room {
		c.full = true
		c.Buffer.Write(p[:room])
		return len(p), nil
	}
	return c.Buffer.Write(p)
}
