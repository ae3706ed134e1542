//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A condition is something that must not change a count.
type condition struct {
	name  string
	runs  int
	place bool // the tree is where the reference's is: totals must agree too

	// prepare makes what the condition needs and says how perfgate is started.
	// undo may be nil. An error that wraps errSkip leaves the condition out.
	prepare func(ctx context.Context, l *lab) (set setting, undo func() error, err error)
}

var errSkip = errors.New("skipped")

func conditions(o options) []condition {
	name := "consecutive"
	prepare := plain()
	if o.load {
		name, prepare = "all cores busy", loaded
	}
	all := []condition{
		{name, o.runs, true, prepare},
		{"long path", 1, false, longPath},
	}
	if o.short {
		return all
	}
	return append(all,
		condition{"60 more variables", 1, true, moreVariables},
		condition{".valgrindrc, VALGRIND_OPTS", 1, true, valgrindrc},
		condition{"-j 1", 1, true, plain("-j", "1")},
		condition{"-j 8", 1, true, plain("-j", "8")},
		condition{"cold build cache", 1, true, coldCache},
		condition{"no C compiler, cold", 1, true, noCompiler},
		condition{"user nobody, cold", 1, true, anotherUser},
	)
}

func plain(args ...string) func(context.Context, *lab) (setting, func() error, error) {
	return func(context.Context, *lab) (setting, func() error, error) {
		return setting{args: args}, nil, nil
	}
}

func loaded(context.Context, *lab) (setting, func() error, error) {
	stop, err := startLoad()
	return setting{}, stop, err
}

// longPath copies the tree to a path of more than 1,000 bytes.
func longPath(_ context.Context, l *lab) (setting, func() error, error) {
	tree := filepath.Join(l.dir, "long")
	for range 10 {
		tree = filepath.Join(tree, strings.Repeat("folder-", 15))
	}
	return setting{tree: tree}, nil, copyTree(tree, l.tree)
}

func moreVariables(context.Context, *lab) (setting, func() error, error) {
	var env []string
	for i := range 60 {
		env = append(env, fmt.Sprintf("EXACTNESS_%d=%s", i, strings.Repeat("value ", rand.IntN(200)+1)))
	}
	return setting{env: env}, nil, nil
}

// valgrindrc puts options that spoil every count where valgrind looks for them:
// in HOME, in the package folders, and in the environment.
func valgrindrc(_ context.Context, l *lab) (setting, func() error, error) {
	const options = "--tool=none --cachegrind-out-file=/dev/null --cache-sim=yes --trace-children=yes\n"
	home := filepath.Join(l.dir, "home")
	err := os.MkdirAll(home, 0o755)
	var files []string
	for _, dir := range []string{home, filepath.Join(l.tree, "bench"), filepath.Join(l.tree, "perfgate/testdata/hard"),
		filepath.Join(l.tree, "perfgate/testdata/hard/network"), filepath.Join(l.tree, "perfgate/testdata/hard/cgocall")} {
		file := filepath.Join(dir, ".valgrindrc")
		files = append(files, file)
		err = errors.Join(err, os.WriteFile(file, []byte(options), 0o600))
	}
	undo := func() (err error) {
		for _, f := range files {
			err = errors.Join(err, os.Remove(f))
		}
		return err
	}
	return setting{env: []string{"HOME=" + home, "VALGRIND_OPTS=" + strings.TrimSpace(options)}}, undo, err
}

// caches returns variables that make new cache folders in the lab.
func (l *lab) caches(name string) []string {
	dir := filepath.Join(l.dir, name)
	return []string{"GOCACHE=" + filepath.Join(dir, "build"), "XDG_CACHE_HOME=" + filepath.Join(dir, "cache")}
}

func coldCache(_ context.Context, l *lab) (setting, func() error, error) {
	return setting{env: l.caches("cold")}, nil, nil
}

// noCompiler gives a PATH with go and valgrind alone. The build cache is cold,
// or it would have what the compiler made before.
func noCompiler(_ context.Context, l *lab) (setting, func() error, error) {
	bin := filepath.Join(l.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return setting{}, nil, err
	}
	for _, name := range []string{"go", "valgrind", "valgrind.bin"} {
		path, err := exec.LookPath(name)
		if errors.Is(err, exec.ErrNotFound) && name == "valgrind.bin" {
			continue // only Debian's valgrind is a script that starts it
		}
		if err == nil {
			err = os.Symlink(path, filepath.Join(bin, name))
		}
		if err != nil {
			return setting{}, nil, err
		}
	}
	return setting{env: append(l.caches("nocc"), "PATH="+bin, "CC", "CXX"), pure: true}, nil, nil
}

// anotherUser runs perfgate as nobody, whose folders are all in the lab.
func anotherUser(ctx context.Context, l *lab) (setting, func() error, error) {
	if os.Getuid() != 0 {
		return setting{}, nil, fmt.Errorf("%w: only root can become another user", errSkip)
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return setting{}, nil, fmt.Errorf("%w: %w", errSkip, err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(nobody.Gid, 10, 32)
	if err := errors.Join(err, err2); err != nil {
		return setting{}, nil, err
	}
	home, modules := filepath.Join(l.dir, "nobody"), filepath.Join(l.dir, "modules")
	if err := errors.Join(os.Mkdir(home, 0o755), os.Chown(home, int(uid), int(gid))); err != nil {
		return setting{}, nil, err
	}
	env := append(l.caches("nobody"), "HOME="+home, "GOMODCACHE="+modules)
	// The modules are in a folder that nobody cannot read: they are copied, and
	// so is a toolchain that go downloaded.
	proxy := setting{env: []string{"GOMODCACHE=" + modules, "GOFLAGS=-modcacherw", "GOPROXY=" + l.modProxy()}}
	if _, err := l.output(ctx, proxy, "go", "list", "-test", "-deps", "./bench"); err != nil {
		return setting{}, nil, fmt.Errorf("filling another module cache: %w", err)
	}
	set := setting{env: env, user: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	if _, err := l.output(ctx, set, "go", "version"); err != nil {
		return set, nil, fmt.Errorf("%w: nobody cannot run go: %w", errSkip, err)
	}
	return set, nil, nil
}

// try measures every suite under a condition and compares with the references.
func (l *lab) try(ctx context.Context, c condition, t *table) (err error) {
	set, undo, err := c.prepare(ctx, l)
	if undo != nil {
		defer func() { err = errors.Join(err, undo()) }()
	}
	if errors.Is(err, errSkip) {
		t.skip(c, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("preparing %q: %w", c.name, err)
	}
	for i := range c.runs {
		for _, s := range t.suites {
			m, err := l.measure(ctx, s, set)
			if errors.Is(err, errNothing) && set.pure {
				continue // -bench left only cgo
			}
			if ctx.Err() != nil {
				return err
			}
			t.add(c, i, s, m, err, set.pure)
		}
	}
	return nil
}
