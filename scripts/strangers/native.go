//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// nativeLimit is how long a native iteration may take. (-test.timeout does not
// hold for benchmarks.)
const nativeLimit = 3 * time.Minute

// native runs one iteration of a benchmark as go test does, and says what that
// took and how it ended; with calls also how many system calls more of them make.
func (l *lab) native(ctx context.Context, dir string, b benchmark, calls bool) (string, error) {
	binary := filepath.Join(l.dir, "native.test")
	if _, err := l.output(ctx, dir, "go", "test", "-c", "-o", binary, "./"+b.dir); err != nil {
		return "", err
	}
	timed, cancel := context.WithTimeout(ctx, nativeLimit)
	defer cancel()
	cmd, stdout := l.nativeCommand(timed, filepath.Join(dir, b.dir), binary, b, 1)
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	switch {
	case ctx.Err() != nil:
		return "", errors.New("interrupted")
	case cmd.ProcessState == nil:
		return "", err
	}
	text := fmt.Sprintf("natively one iteration took %.1f s, %.1f s of a processor", took.Seconds(),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	switch {
	case timed.Err() != nil:
		text += ", and had not ended then"
	case err != nil:
		text += fmt.Sprintf(": %v\n%s", err, failure(stdout.String()))
	}
	if !calls || err != nil {
		return strings.ReplaceAll(text, dir+"/", ""), nil
	}
	for range 3 {
		some, err := l.systemCalls(ctx, dir, b, binary)
		if err != nil {
			return "", err
		}
		text += "\n" + some
	}
	return text, nil
}

// nativeCommand returns a command that runs n iterations. Its temporary files,
// which it leaves when it is killed, are not in the folder for perfgate's.
func (l *lab) nativeCommand(ctx context.Context, dir, binary string, b benchmark, n int) (*exec.Cmd, *bytes.Buffer) {
	cmd, stdout, _ := l.command(ctx, dir, binary, "-test.run=^$", "-test.bench="+pattern([]benchmark{b}), fmt.Sprintf("-test.benchtime=%dx", n))
	cmd.Env = append(cmd.Env, "TMPDIR="+l.dir)
	cmd.Stderr = stdout
	return cmd, stdout
}

// systemCalls says how often twenty native iterations read and write: what the
// kernel decides shows there.
func (l *lab) systemCalls(ctx context.Context, dir string, b benchmark, binary string) (string, error) {
	timed, cancel := context.WithTimeout(ctx, nativeLimit)
	defer cancel()
	cmd, _ := l.nativeCommand(timed, filepath.Join(dir, b.dir), binary, b, 20)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	// The kernel keeps its numbers until the process is waited for: this wait
	// leaves it. See waitid(2).
	const pid, exited, leave = 1, 4, 0x1000000
	syscall.Syscall6(syscall.SYS_WAITID, pid, uintptr(cmd.Process.Pid), 0, exited|leave, 0, 0)
	io, readErr := os.ReadFile(fmt.Sprintf("/proc/%d/io", cmd.Process.Pid))
	err := cmd.Wait()
	if ctx.Err() != nil {
		return "", errors.New("interrupted")
	}
	var reads, writes string
	for line := range strings.Lines(string(io)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "syscr":
			reads = value
		case "syscw":
			writes = value
		}
	}
	if err := errors.Join(err, readErr); err != nil {
		return fmt.Sprintf("natively twenty iterations: %v", err), nil
	}
	return fmt.Sprintf("natively twenty iterations made %s reads and %s writes", reads, writes), nil
}

// failure returns the lines of a test's output that tell why it failed.
func failure(output string) string {
	if i := strings.Index(output, "--- FAIL"); i >= 0 {
		output = output[i:]
	}
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" && line != "FAIL" && len(lines) < 10 {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
