// Package cachegrind counts instructions with valgrind's cachegrind: it runs
// valgrind as a process and reads the file that it writes. It knows nothing of
// Go benchmarks.
//
// See Valgrind User Manual, section 5, "Cachegrind".
package cachegrind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

// Method is the name of this way of counting in a target.
const Method = "cachegrind"

// minVersion is the first release with --vex-guest-chase.
const minVersion = "3.17"

// Valgrind is an installed valgrind. It is safe for concurrent use.
type Valgrind struct {
	Path     string // the program that is started
	Version  string // as in "3.19.0"
	Identity string // another one after another installation
}

var _ count.Counter = (*Valgrind)(nil)

// Find looks valgrind up in PATH and asks it for its version.
//
// Debian's valgrind is a shell script that adds variables to the environment of
// the measured program; Find returns the valgrind.bin that it would start.
func Find(ctx context.Context) (*Valgrind, error) {
	path, err := exec.LookPath("valgrind")
	if err != nil {
		return nil, errors.New("valgrind is not installed: `apt-get install valgrind` (or the package of that name of your system)")
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if bin := path + ".bin"; executable(bin) {
		path = bin
	}
	limited, cancel := context.WithTimeoutCause(ctx, time.Minute, count.ErrTimeout{Limit: time.Minute})
	defer cancel()
	out, err := process.Run(limited, process.Command{Path: path, Args: []string{"--version"}})
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", path, err)
	}
	version, ok := strings.CutPrefix(strings.TrimSpace(string(out.Stdout)), "valgrind-")
	if !ok || version == "" || version[0] < '0' || '9' < version[0] || strings.Contains(version, "\n") {
		return nil, fmt.Errorf("asking %s for its version: it says %q", path, firstLine(out.Stdout))
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	identity := fmt.Sprintf("%s %s %d %d", path, version, info.Size(), info.ModTime().UnixNano())
	version, _, _ = strings.Cut(version, "-")
	if older(version, minVersion) {
		return nil, fmt.Errorf("valgrind %s (%s) is too old: %s or later is needed; install a newer valgrind and put its folder first in PATH", version, path, minVersion)
	}
	return &Valgrind{Path: path, Version: version, Identity: identity}, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func older(v, w string) bool {
	a, b := strings.Split(v, "."), strings.Split(w, ".")
	for i := range b {
		x, y := 0, 0
		if i < len(a) {
			x, _ = strconv.Atoi(a[i])
		}
		y, _ = strconv.Atoi(b[i])
		if x != y {
			return x < y
		}
	}
	return false
}

// Run counts the instructions of c. See [count.Counter].
//
// Valgrind's own messages go to a file, so that the program's standard error is
// its own.
func (v *Valgrind) Run(ctx context.Context, c process.Command, scratch string, limit time.Duration) (count.Result, error) {
	out := filepath.Join(scratch, "counts")
	log := filepath.Join(scratch, "log")
	for _, f := range []string{out, log} {
		// A file of an earlier run must not pass for this one's.
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			return count.Result{}, err
		}
	}
	timed, cancel := context.WithTimeoutCause(ctx, limit, count.ErrTimeout{Limit: limit})
	defer cancel()
	output, err := process.Run(timed, process.Command{
		Path: v.Path,
		Args: append([]string{
			"--tool=cachegrind",
			"--command-line-only=yes", // no VALGRIND_OPTS, no .valgrindrc
			"--cache-sim=no",
			"--vex-guest-chase=no", // count no instruction that was not executed
			"--vgdb=no",            // its pipes would stand in the program's TMPDIR
			"--log-file=" + verbatim(log),
			"--cachegrind-out-file=" + verbatim(out),
			c.Path,
		}, c.Args...),
		Dir: c.Dir,
		Env: c.Env,
	})
	r := count.Result{Output: output}
	messages, _ := os.ReadFile(log) // only for explanations: absent is empty
	switch {
	case err != nil && !process.Died(err):
		return r, err
	case err != nil:
		r.Status = err.Error()
		if why := diagnose(string(messages) + launcherMessages(output.Stderr)); why != "" {
			return r, errors.New(why)
		}
		return r, nil
	}
	data, err := os.ReadFile(out)
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("valgrind wrote no counts (is the disk full?): %s", lastLine(messages))
	}
	if err != nil {
		return r, err
	}
	if r.Count, err = Parse(data); err != nil {
		return r, fmt.Errorf("reading valgrind's counts (is the disk full?): %w", err)
	}
	return r, nil
}

// verbatim quotes a file name for valgrind, which expands %.
func verbatim(name string) string { return strings.ReplaceAll(name, "%", "%%") }

// diagnose returns the cause if valgrind's log tells of trouble that is
// valgrind's and not the program's.
func diagnose(log string) string {
	switch {
	case strings.Contains(log, "SIGILL"), strings.Contains(log, "nrecognised instruction"), strings.Contains(log, "unhandled instruction"):
		return "the program died of an instruction that this valgrind cannot decode; install a newer valgrind, or lower GOAMD64"
	case strings.Contains(log, "impossible' happened"), strings.Contains(log, "Valgrind has to exit now"):
		return "valgrind itself failed: " + lineWith(log, "impossible", "exit now")
	case strings.Contains(log, "Out of memory"), strings.Contains(log, "out of memory"):
		return "valgrind ran out of memory"
	case strings.Contains(log, "failed to start tool"), strings.Contains(log, "Bad option"), strings.Contains(log, "Unknown option"):
		return "valgrind does not start: " + lineWith(log, "failed to start", "option")
	}
	return ""
}

// launcherMessages returns what valgrind printed before it knew its log file.
func launcherMessages(stderr []byte) string {
	var own strings.Builder
	for line := range strings.Lines(string(stderr)) {
		if strings.HasPrefix(line, "valgrind: ") {
			own.WriteString(line)
		}
	}
	return own.String()
}

func lineWith(log string, words ...string) string {
	for line := range strings.Lines(log) {
		for _, w := range words {
			if strings.Contains(line, w) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}

func lastLine(b []byte) string {
	s := strings.TrimSpace(string(b))
	return s[strings.LastIndex(s, "\n")+1:]
}
