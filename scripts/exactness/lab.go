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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cachekit-go/cachekit/scripts/internal/child"
)

// A suite is benchmarks of one module, measured together.
type suite struct {
	name     string
	dir      string // of the module, in the tree
	packages []string
	pure     []string // those of packages that need no C compiler
}

func suites() []suite {
	return []suite{
		{"bench", ".", []string{"./bench"}, []string{"./bench"}},
		{"hard", "perfgate/testdata/hard", []string{"./..."}, []string{".", "./network"}},
	}
}

// A setting is how perfgate is started. The zero value is the reference.
type setting struct {
	tree string   // "" for the lab's
	env  []string // over the lab's environment; NAME alone removes
	args []string
	user *syscall.Credential
	pure bool // only packages without cgo
}

// A lab is a temporary folder with a copy of the tree and a perfgate built from
// it.
type lab struct {
	dir, tree, perfgate string
	bench               string
	env                 []string
}

// newLab makes a lab from the repository in the working folder.
func newLab(ctx context.Context, bench string) (_ *lab, err error) {
	for _, s := range suites() {
		if _, err := os.Stat(filepath.Join(s.dir, "go.mod")); err != nil {
			return nil, fmt.Errorf("this is not the root of the repository: %w", err)
		}
	}
	syscall.Umask(0o022) // another user reads what is made here
	dir, err := os.MkdirTemp("", "exact")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, tree: filepath.Join(dir, "tree"), perfgate: filepath.Join(dir, "perfgate"), bench: bench}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.remove())
		}
	}()
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	if err := copyTree(l.tree, "."); err != nil {
		return nil, fmt.Errorf("copying the tree: %w", err)
	}
	if l.env, err = l.environment(ctx); err != nil {
		return nil, err
	}
	_, err = l.output(ctx, setting{}, "go", "build", "-o", l.perfgate, "./perfgate")
	return l, err
}

// remove removes the lab. What programs made read-only goes too.
func (l *lab) remove() error {
	filepath.WalkDir(l.dir, func(p string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			os.Chmod(p, 0o755)
		}
		return nil
	})
	return os.RemoveAll(l.dir)
}

// environment returns the user's environment with every folder of Go's named,
// so that a condition can change one and leave the others. Temporary files of
// perfgate go to the lab, where no other run of perfgate takes its folder.
func (l *lab) environment(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOENV", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN").Output()
	if err != nil {
		return nil, fmt.Errorf("asking go for its environment: %w", err)
	}
	var v map[string]string
	if err := json.Unmarshal(out, &v); err != nil {
		return nil, fmt.Errorf("asking go for its environment: %w", err)
	}
	// What "go env -w" wrote holds for the other user and HOME, too.
	goenv := filepath.Join(l.dir, "goenv")
	text, _ := os.ReadFile(v["GOENV"]) // absent or off: none
	if err := os.WriteFile(goenv, text, 0o644); err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	temp := filepath.Join(l.dir, "temp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(temp, 0o777|fs.ModeSticky); err != nil {
		return nil, err
	}
	v["GOENV"], v["XDG_CACHE_HOME"], v["TMPDIR"], v["GOWORK"] = goenv, cache, temp, "off"
	env := os.Environ()
	for name, value := range v {
		env = append(env, name+"="+value)
	}
	slices.Sort(env[len(env)-len(v):])
	return merge(env), nil
}

// merge keeps the last value of each variable; NAME without a value removes it.
func merge(env []string) []string {
	value := make(map[string]string)
	var names []string
	for _, e := range env {
		name, _, set := strings.Cut(e, "=")
		if _, ok := value[name]; !ok {
			names = append(names, name)
		}
		if value[name] = e; !set {
			value[name] = ""
		}
	}
	var merged []string
	for _, n := range names {
		if value[n] != "" {
			merged = append(merged, value[n])
		}
	}
	return merged
}

// copyTree copies the files of a tree, except for hidden ones and bin.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if path != from && (strings.HasPrefix(name, ".") || path == filepath.Join(from, "bin")) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case e.Type().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(target, text, 0o644)
		}
		return nil
	})
}

// errNothing says that a suite has no benchmark of the asked name.
var errNothing = errors.New("nothing to measure")

// measured is a document and how long it took.
type measured struct {
	*document
	seconds float64
}

// measure runs perfgate over a suite.
func (l *lab) measure(ctx context.Context, s suite, set setting) (*measured, error) {
	start := time.Now()
	packages := s.packages
	if set.pure {
		packages = s.pure
	}
	args := slices.Concat([]string{"run", "-fresh", "-format", "json", "-bench", l.bench}, set.args, packages)
	set.tree = filepath.Join(l.treeOf(set), s.dir)
	out, err := l.output(ctx, set, l.perfgate, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 2 {
		return nil, errNothing
	}
	d, parseErr := parseDocument(out)
	if err == nil {
		err = parseErr
	} else if why := d.faults(); why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return nil, err
	}
	return &measured{d, time.Since(start).Seconds()}, d.check()
}

func (l *lab) treeOf(set setting) string {
	if set.tree == "" {
		return l.tree
	}
	return set.tree
}

// output runs a command and returns its standard output. It ends with the
// context, or with this process.
func (l *lab) output(ctx context.Context, set setting, name string, args ...string) ([]byte, error) {
	cmd := child.Command(ctx, l.treeOf(set), merge(slices.Concat(l.env, set.env)), name, args...)
	cmd.SysProcAttr.Credential = set.user
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted")
	case err != nil:
		text := strings.TrimSpace(stderr.String())
		err = fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, text[strings.LastIndex(text, "\n")+1:])
	}
	return out, err
}

// modProxy returns a GOPROXY that takes modules from the user's module cache
// first.
func (l *lab) modProxy() string {
	value := make(map[string]string)
	for _, e := range l.env {
		name, v, _ := strings.Cut(e, "=")
		value[name] = v
	}
	return "file://" + filepath.Join(value["GOMODCACHE"], "cache", "download") + "," + value["GOPROXY"]
}
