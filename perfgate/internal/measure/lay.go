package measure

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// testdata is the folder that tests keep their files in.
const testdata = "testdata"

// laidTests are the test files of one tree's package, laid over the same package
// of another tree. Files that do not compile there give way to that tree's own.
type laidTests struct {
	dir  string            // of the other tree's package
	laid map[string][]byte // by file name
	own  map[string][]byte
	gave map[string]bool // files that gave way; all have if allOwn is set

	allOwn     bool
	comparable map[string]bool // benchmark functions, once a file gave way
}

// layTests replaces the test files and the testdata in dir by those in from.
func layTests(from, dir string) (*laidTests, error) {
	l := &laidTests{dir: dir, gave: make(map[string]bool)}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		l.laid, err = readTests(from)
	}
	if err == nil {
		l.own, err = readTests(dir)
	}
	if err == nil {
		err = replaceTests(dir, l.own, l.laid)
	}
	if err == nil {
		err = os.RemoveAll(filepath.Join(dir, testdata))
	}
	if err == nil {
		err = copyTree(filepath.Join(from, testdata), filepath.Join(dir, testdata))
	}
	if err != nil {
		return nil, fmt.Errorf("laying test files over %s: %w", dir, err)
	}
	return l, nil
}

func readTests(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") || e.IsDir() {
			continue
		}
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func replaceTests(dir string, old, files map[string][]byte) error {
	for name := range old {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

var testFilePlace = regexp.MustCompile(`(?m)([^\s/\\:]+_test\.go):\d+`)

// giveWay replaces the files that a compiler's text names by the tree's own. It
// returns false if there is nothing left to try.
func (l *laidTests) giveWay(text string) (bool, error) {
	if l.allOwn {
		return false, nil
	}
	files := l.effective()
	next := maps.Clone(files)
	some := false
	for _, m := range testFilePlace.FindAllStringSubmatch(text, -1) {
		name := m[1]
		if _, laid := l.laid[name]; !laid || l.gave[name] {
			continue
		}
		l.gave[name], some = true, true
		delete(next, name)
		if own, ok := l.own[name]; ok {
			next[name] = own
		}
	}
	if !some {
		l.allOwn, next = true, l.own
	}
	l.comparable = equalBenchmarks(l.laid, next)
	return true, replaceTests(l.dir, files, next)
}

// effective returns the files that are in place.
func (l *laidTests) effective() map[string][]byte {
	if l.allOwn {
		return l.own
	}
	files := maps.Clone(l.laid)
	for name := range l.gave {
		delete(files, name)
		if own, ok := l.own[name]; ok {
			files[name] = own
		}
	}
	return files
}

// differs says why a benchmark does not compare although both sides may have
// it, or returns "".
func (l *laidTests) differs(k gate.Key) string {
	if l == nil || l.comparable == nil {
		return ""
	}
	function, _, _ := strings.Cut("Benchmark"+k.Name, "/")
	if l.comparable[function] {
		return ""
	}
	return "its test files do not compile there, and its source differs from what does"
}

// comparesSome reports whether some benchmark function of the package compares,
// or there was none to compare with.
func (l *laidTests) comparesSome() bool {
	return l == nil || l.comparable == nil || len(l.comparable) > 0 || len(benchmarkSources(l.own)) == 0
}

// gone returns the benchmark functions that only the tree's own files have.
func (l *laidTests) gone() []string {
	if l == nil {
		return nil
	}
	laid := benchmarkSources(l.laid)
	var gone []string
	for name := range benchmarkSources(l.own) {
		if _, ok := laid[name]; !ok {
			gone = append(gone, name)
		}
	}
	return gone
}

// copyTree copies a folder, symbolic links as such; one that does not exist is
// none.
func copyTree(from, to string) error {
	err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o777)
		case e.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case e.Type().IsRegular():
			return copyFile(name, target)
		}
		return nil // sockets and the like
	})
	if errors.Is(err, fs.ErrNotExist) && !exists(from) {
		return nil
	}
	return err
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
