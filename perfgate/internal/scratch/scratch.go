// Package scratch owns the temporary folder of one run of perfgate: it makes
// it, removes it, and removes what runs that were killed have left, files and
// processes.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/process"
)

const (
	// pathLen is the length of every scratch folder's path, in bytes. Measured
	// programs see the path, so its length must not differ between machines.
	pathLen = 40
	prefix  = "perfgate-"
	slots   = 1000
)

// A Dir is a temporary folder of this run alone.
//
// Its path has always the same length, and it is always the same path unless
// several runs exist at once: a program that uses its path as the key of a map
// executes other instructions with another path.
type Dir struct {
	Path string
	lock *os.File
}

// New makes a folder below the system's folder for temporary files, or below
// /tmp if that one's path is too long. It removes the folders of runs that were
// killed.
func New() (*Dir, error) {
	base, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	if len(base) > pathLen-len("/"+prefix)-len("999") {
		base = "/tmp"
	}
	removeStale(base)
	for i := range slots {
		d, err := take(slotPath(base, i))
		if err != nil || d != nil {
			return d, err
		}
	}
	return nil, fmt.Errorf("making a temporary folder: %d are in use in %s", slots, base)
}

func slotPath(base string, i int) string {
	path := filepath.Join(base, prefix)
	return fmt.Sprintf("%s%0*d", path, pathLen-len(path), i)
}

// take makes the folder, or takes over one that its owner left, whose processes
// it ends. It returns nil if a living run or another user has it.
func take(path string) (*Dir, error) {
	err := os.Mkdir(path, 0o700)
	left := errors.Is(err, os.ErrExist)
	switch {
	case left:
		if !private(path) {
			return nil, nil
		}
	case err != nil:
		return nil, fmt.Errorf("making a temporary folder (set TMPDIR to a place that can be written): %w", err)
	}
	name := filepath.Join(path, "lock")
	lock, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return take(path) // removed in this moment
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	if !tryLock(lock) {
		lock.Close()
		return nil, nil
	}
	if !isAt(lock, name) {
		lock.Close()
		return take(path)
	}
	d := &Dir{path, lock}
	if left {
		process.EndUsersOf(path)
	}
	return d, d.empty()
}

// empty removes all but the lock.
func (d *Dir) empty() error {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == filepath.Base(d.lock.Name()) {
			continue
		}
		path := filepath.Join(d.Path, e.Name())
		if err := RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the folder and all that is in it.
func (d *Dir) Remove() error {
	defer d.lock.Close()
	if err := d.empty(); err != nil {
		return err
	}
	if err := os.Remove(d.lock.Name()); err != nil {
		return err
	}
	// Once the lock's name is gone another run may take the folder over: then
	// it is not empty, or gone already.
	err := os.Remove(d.Path)
	if errors.Is(err, os.ErrExist) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveAll is [os.RemoveAll], and also removes what stands in folders that
// their owner may not write to.
func RemoveAll(path string) error {
	makeWritable(path)
	return os.RemoveAll(path)
}

// makeWritable gives folders that a measured program made read-only their write
// permission back, so that they can be emptied.
func makeWritable(path string) {
	filepath.WalkDir(path, func(p string, e os.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			if info, err := e.Info(); err == nil && info.Mode()&0o700 != 0o700 {
				os.Chmod(p, 0o700)
			}
		}
		return nil
	})
}

func removeStale(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return // New will say what is wrong with it
	}
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		if len(path) == pathLen && isSlot(e.Name()) && private(path) {
			if d, _ := take(path); d != nil {
				d.Remove()
			}
		}
	}
}

// isSlot reports whether a folder's name is one that slotPath makes.
func isSlot(name string) bool {
	number, ok := strings.CutPrefix(name, prefix)
	i, err := strconv.ParseUint(number, 10, 64)
	return ok && err == nil && i < slots
}

func isAt(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}
