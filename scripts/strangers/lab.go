//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cachekit-go/cachekit/scripts/internal/child"
)

// A lab is a temporary folder with a perfgate built from the tree, and copies of
// modules.
type lab struct {
	dir, perfgate, temp string // temp is where perfgate has its temporary files
	jobs                int
	env                 []string
}

func newLab(ctx context.Context, root string, jobs int) (_ *lab, err error) {
	dir, err := os.MkdirTemp("", "strangers")
	if err != nil {
		return nil, err
	}
	l := &lab{
		dir: dir, perfgate: filepath.Join(dir, "perfgate"), temp: filepath.Join(dir, "t"), jobs: jobs,
		env: append(os.Environ(), "GOFLAGS=", "GOWORK=off", "TMPDIR="+filepath.Join(dir, "t")),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.remove())
		}
	}()
	if err := os.Mkdir(l.temp, 0o700); err != nil {
		return nil, err
	}
	_, err = l.output(ctx, root, "go", "build", "-o", l.perfgate, "./perfgate")
	return l, err
}

func (l *lab) remove() error { return os.RemoveAll(l.dir) }

// fetch copies a module out of the module cache, where nothing can be written,
// and has go complete its go.sum: it may lack what only its tests need.
func (l *lab) fetch(ctx context.Context, m module) (string, error) {
	text, err := l.output(ctx, l.dir, "go", "mod", "download", "-json", m.String())
	if err != nil {
		return "", err
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(text, &found); err != nil || found.Dir == "" {
		return "", fmt.Errorf("reading where go put it: %w", errors.Join(err, errors.New("no folder")))
	}
	dir := filepath.Join(l.dir, "module")
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(found.Dir))); err != nil {
		return "", err
	}
	args := []string{"list", "-mod=mod", "-test", "-deps"}
	for _, g := range m.groups() {
		args = append(args, "./"+g[0].dir)
	}
	_, err = l.output(ctx, dir, "go", args...)
	return dir, err
}

// try has perfgate count the benchmarks of a module, twice, and compares.
func (l *lab) try(ctx context.Context, m module) ([]outcome, error) {
	dir, err := l.fetch(ctx, m)
	if err != nil {
		return nil, err
	}
	before, err := snapshot(dir)
	if err != nil {
		return nil, err
	}
	var outcomes []outcome
	for _, together := range m.groups() {
		start := time.Now()
		some, err := l.tryGroup(ctx, dir, together)
		for i := range some {
			some[i].module = m
		}
		outcomes = append(outcomes, some...)
		if err != nil {
			return outcomes, err
		}
		progress("%v ./%s: %s (%.0f s)", m, together[0].dir, summary(some), time.Since(start).Seconds())
	}
	after, err := snapshot(dir)
	if err == nil {
		err = same(before, after)
	}
	return outcomes, err
}

// tryGroup tries benchmarks of one package.
func (l *lab) tryGroup(ctx context.Context, dir string, group []benchmark) ([]outcome, error) {
	first, err := l.count(ctx, dir, group)
	if err != nil {
		return nil, err
	}
	var again []benchmark // what was counted
	for _, b := range group {
		if first.row(b.name).counted() {
			again = append(again, b)
		}
	}
	second := &document{}
	if len(again) > 0 {
		if second, err = l.count(ctx, dir, again); err != nil {
			return nil, err
		}
	}
	var outcomes []outcome
	for _, b := range group {
		o := judge(b, first, second)
		if !o.equal {
			if o.unequal() {
				if o.reason, err = l.verdict(ctx, dir, b, o.reason); err != nil {
					return outcomes, err
				}
			}
			if o.native, err = l.native(ctx, dir, b, o.unequal()); err != nil {
				return outcomes, err
			}
			o.reason = strings.ReplaceAll(o.reason, dir+"/", "")
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// count runs perfgate on benchmarks of one package.
func (l *lab) count(ctx context.Context, dir string, group []benchmark, flags ...string) (*document, error) {
	limit := group[0].limit
	if limit == 0 {
		limit = usualLimit
	}
	args := append([]string{"run", "-fresh", "-format", "json", "-j", fmt.Sprint(l.jobs), "-timeout", limit.String(), "-bench", pattern(group)}, flags...)
	cmd, stdout, stderr := l.command(ctx, dir, l.perfgate, append(args, "./"+group[0].dir)...)
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	if cmd.ProcessState == nil {
		return nil, err
	}
	d, err := parseDocument(stdout.Bytes())
	if err := crashed(cmd.ProcessState.ExitCode(), stderr.String(), err); err != nil {
		return nil, fmt.Errorf("perfgate on ./%s: %w\n%s", group[0].dir, err, strings.TrimSpace(stderr.String()))
	}
	return d, l.tidied()
}

// verdict returns what perfgate -verify says of a benchmark, whose two counts
// by chance may be equal this time: then seen stands.
func (l *lab) verdict(ctx context.Context, dir string, b benchmark, seen string) (string, error) {
	for range 3 {
		d, err := l.count(ctx, dir, []benchmark{b}, "-verify")
		if err != nil {
			return seen, err
		}
		if r := d.row(b.name); !r.counted() {
			return r.verdict(), nil
		}
	}
	return seen, nil
}

// tidied fails if perfgate left something in its folder for temporary files.
func (l *lab) tidied() error {
	entries, err := os.ReadDir(l.temp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "go-build") { // go's own
			return fmt.Errorf("perfgate left %s behind", e.Name())
		}
	}
	return nil
}

// command returns a command in dir. It ends with the context, or with this
// process.
func (l *lab) command(ctx context.Context, dir, name string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	cmd = child.Command(ctx, dir, l.env, name, args...)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// output runs a command and returns its standard output.
func (l *lab) output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return child.Output(ctx, dir, l.env, name, args...)
}

// snapshot returns the size and time of every file of a tree.
func snapshot(dir string) (map[string]string, error) {
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files[path] = fmt.Sprint(info.Size(), info.Mode(), info.ModTime().UnixNano())
		}
		return err
	})
	return files, err
}

// same fails if two snapshots of a module differ.
func same(before, after map[string]string) error {
	for path, was := range before {
		if after[path] != was {
			return fmt.Errorf("a run changed %s", path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			return fmt.Errorf("a run left %s behind", path)
		}
	}
	return nil
}

// adopt makes this process the parent of what its children leave running: see
// prctl(2), PR_SET_CHILD_SUBREAPER.
func adopt() {
	const setChildSubreaper = 36
	syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// leftovers fails if a process is left of those that were started.
func (l *lab) leftovers() error {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if errors.Is(err, syscall.ECHILD) {
		return nil
	}
	return fmt.Errorf("a process was left running (%d, %v)", pid, err)
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "strangers: "+format+"\n", args...)
}
