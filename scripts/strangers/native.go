//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// nativeLimit is how long a native iteration may take. (-test.timeout does not
// hold for benchmarks.)
const nativeLimit = 3 * time.Minute

// native runs one iteration of a benchmark as go test does, and says what that
// took and how it ended.
func (l *lab) native(ctx context.Context, dir string, b benchmark) (string, error) {
	binary := filepath.Join(l.dir, "native.test")
	if _, err := l.output(ctx, dir, "go", "test", "-c", "-o", binary, "./"+b.dir); err != nil {
		return "", err
	}
	timed, cancel := context.WithTimeout(ctx, nativeLimit)
	defer cancel()
	cmd, stdout, _ := l.command(timed, filepath.Join(dir, b.dir), binary,
		"-test.run=^$", "-test.bench="+pattern([]benchmark{b}), "-test.benchtime=1x")
	cmd.Stderr = stdout
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
	return text, nil
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
