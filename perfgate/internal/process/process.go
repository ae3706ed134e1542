// Package process starts child processes that do not outlive perfgate: they are
// killed with all their children when the context ends, and, on Linux, by the
// kernel when perfgate itself is killed.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"time"
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

// An Output is what a command wrote, and what it took.
type Output struct {
	Stdout, Stderr []byte
	Busy           time.Duration // that it and those of its children that ended had a processor
}

// Run runs c and returns its output, also beside an error.
//
// The error wraps an [*exec.ExitError] when the program ran and did not exit
// with status 0, and [context.Cause] of ctx when ctx ended first. The whole
// process group of the child is gone when Run returns.
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
	stdout, err := newStream()
	if err != nil {
		return Output{}, err
	}
	defer stdout.close()
	stderr, err := newStream()
	if err != nil {
		return Output{}, err
	}
	defer stderr.close()
	cmd.Stdout, cmd.Stderr = stdout.w, stderr.w
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return Output{}, err
	}
	stop := context.AfterFunc(ctx, func() { killGroup(cmd.Process) })
	read := []<-chan error{stdout.read(), stderr.read()}
	err = cmd.Wait()
	interrupted := !stop()
	killGroup(cmd.Process) // what the child left running
	deadline := time.Now().Add(grace)
	stdout.r.SetReadDeadline(deadline)
	stderr.r.SetReadDeadline(deadline)
	readErr := errors.Join(<-read[0], <-read[1])
	out := Output{stdout.kept.b.Bytes(), stderr.kept.b.Bytes(), busy(cmd.ProcessState)}
	switch {
	case interrupted && err != nil:
		return out, context.Cause(ctx)
	case err != nil:
		return out, err
	case errors.Is(readErr, os.ErrDeadlineExceeded):
		return out, errors.New("it left a process running that holds its output")
	case readErr != nil:
		return out, fmt.Errorf("reading what it printed: %w", readErr)
	case stdout.kept.full || stderr.kept.full:
		return out, fmt.Errorf("printed more than %d MiB", maxOutput>>20)
	}
	return out, nil
}

func busy(s *os.ProcessState) time.Duration {
	if s == nil {
		return 0
	}
	return s.UserTime() + s.SystemTime()
}

// grace is how long output is still read after the child and its process group
// are gone: what is in the pipe, not what a process that left the group may yet
// print.
const grace = 2 * time.Second

// A stream is one of a child's output streams.
//
// Note: with a Writer that is no file, [exec.Cmd.Wait] would not return before
// every process that holds the stream has ended, so that what a child left
// running could not be killed.
type stream struct {
	r, w *os.File
	kept capped
}

func newStream() (*stream, error) {
	r, w, err := os.Pipe()
	return &stream{r: r, w: w}, err
}

// read closes the child's end here and reads the stream to its end.
func (s *stream) read() <-chan error {
	s.w.Close()
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(&s.kept, s.r)
		done <- err
	}()
	return done
}

func (s *stream) close() {
	s.r.Close()
	s.w.Close()
}

// Died reports whether err is the exit of a program that a signal ended, or
// that ended with another status than 0.
func Died(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}

// Exited reports whether err is the exit of a program that ended by itself, with
// another status than 0: that status is an answer, a signal is none.
func Exited(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.Exited()
}

// trouble is how programs tell of what is the machine's: by the end of another
// program that somebody killed, and by the C library's and Go's words for errno.
var trouble = regexp.MustCompile(`(?i)signal: (killed|terminated|interrupt|hangup)|no space left on device|out of diskspace|is the disk full|` +
	`disk quota exceeded|read-only file system|input/output error|stale (NFS )?file handle|structure needs cleaning|` +
	`too many open files|cannot allocate memory|out of memory|resource temporarily unavailable`)

// Trouble reports whether a text, such as an error or what a failed program
// printed, tells of a full disk, of no memory or of a process that was killed:
// of the machine's trouble, which says nothing about the program. The same may
// well succeed the next time.
func Trouble(text string) bool { return trouble.MatchString(text) }

// capped keeps the first maxOutput bytes written to it and drops the rest.
//
// Note: it does not embed the buffer, whose ReadFrom [io.Copy] would use.
type capped struct {
	b    bytes.Buffer
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := min(len(p), maxOutput-c.b.Len())
	c.b.Write(p[:room])
	c.full = c.full || room < len(p)
	return len(p), nil
}
