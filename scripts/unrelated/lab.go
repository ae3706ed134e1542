//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cachekit-go/cachekit/scripts/internal/child"
)

// A lab is a temporary folder with a clone of the repository's HEAD, a perfgate
// built from it, and the budgets of the unedited tree.
type lab struct {
	dir, tree, perfgate, budgets string
	env                          []string
}

func newLab(ctx context.Context, root string) (_ *lab, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "unrelated")
	if err != nil {
		return nil, err
	}
	l := &lab{
		dir: dir, tree: filepath.Join(dir, "tree"), perfgate: filepath.Join(dir, "perfgate"),
		budgets: filepath.Join(dir, "budgets.json"),
		// Temporary files of perfgate go to the lab, where no other run of it
		// takes its folder.
		env: append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "TMPDIR="+filepath.Join(dir, "t")),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.remove())
		}
	}()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "t"), 0o700), os.Mkdir(l.tree, 0o700)); err != nil {
		return nil, err
	}
	if _, err := l.output(ctx, "git", "clone", "-q", root, "."); err != nil {
		return nil, err
	}
	_, err = l.output(ctx, "go", "build", "-o", l.perfgate, "./perfgate")
	return l, err
}

func (l *lab) remove() error { return os.RemoveAll(l.dir) }

// record measures the tree and keeps that as budgets.
func (l *lab) record(ctx context.Context, bench string) error {
	_, err := l.output(ctx, l.perfgate, "update", "-baselines", l.budgets, "-bench", bench, "./bench")
	return err
}

// compile runs the new tests of packages, so that none of them is edited into
// something that does not compile.
func (l *lab) compile(ctx context.Context, packages []*source) error {
	args := []string{"test", "-run", "^TestUnrelated"}
	for _, p := range packages {
		args = append(args, p.ImportPath)
	}
	_, err := l.output(ctx, "go", args...)
	return err
}

// A judgement is what a check said.
type judgement struct {
	rows, moved int
	largest     movement
	red         []string
}

// check has perfgate judge the tree by the budgets.
func (l *lab) check(ctx context.Context, bench string) (judgement, error) {
	text, err := l.output(ctx, l.perfgate, "check", "-fresh", "-baselines", l.budgets, "-format", "json", "-bench", bench, "./bench")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
		err = nil
	}
	if err != nil {
		return judgement{}, err
	}
	return judge(text)
}

// judge reads the document of a check. Rows without a comparison are an error,
// and so are counts that were not made now.
func judge(text []byte) (j judgement, err error) {
	var d struct {
		Benchmarks []struct {
			Name    string
			Verdict string
			Ir      json.Number `json:"ir_per_op"`
			Budget  json.Number
			Delta   *float64 `json:"delta_pct"`
		}
		Run struct {
			Starts int `json:"valgrind_starts"`
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return j, fmt.Errorf("reading perfgate's document: %w", err)
	}
	if len(d.Benchmarks) == 0 {
		return j, errors.New("perfgate judged nothing")
	}
	if d.Run.Starts < 2*len(d.Benchmarks) {
		return j, fmt.Errorf("%d starts of valgrind for %d benchmarks: some counts are remembered ones", d.Run.Starts, len(d.Benchmarks))
	}
	for _, b := range d.Benchmarks {
		if b.Delta == nil || b.Verdict == "incomparable" {
			return j, fmt.Errorf("%s: %s: not compared", b.Name, b.Verdict)
		}
		m := movement{b.Name, *b.Delta, b.Budget, b.Ir}
		j.rows++
		if b.Ir != b.Budget {
			j.moved++
		}
		if b.Verdict == "regressed" {
			j.red = append(j.red, m.String())
		}
		j.largest = larger(j.largest, m)
	}
	return j, nil
}

// A movement is how a count differs from that of the unedited tree.
type movement struct {
	name     string
	pct      float64
	was, now json.Number
}

func (m movement) String() string {
	if m.was == m.now {
		return "none"
	}
	return fmt.Sprintf("%+.4f %%  %s  %s → %s", m.pct, m.name, m.was, m.now)
}

// larger returns the larger movement, in either direction.
func larger(a, b movement) movement {
	if max(b.pct, -b.pct) > max(a.pct, -a.pct) {
		return b
	}
	return a
}

// output runs a command in the tree and returns its standard output. It ends
// with the context, or with this process.
func (l *lab) output(ctx context.Context, name string, args ...string) ([]byte, error) {
	return child.Output(ctx, l.tree, l.env, name, args...)
}
