package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
)

// budgetPath returns the path of the budget file, which may not exist yet: the one
// that is named, or that beside go.mod, or beside go.work if that is nearer. A
// symbolic link is followed, so that what it names is read and written.
func budgetPath(s *measure.Session, o *options) (string, error) {
	path := o.baselines
	if path == "" {
		dir := s.Go.Dir()
		if dir == "" {
			return "", errors.New("no go.mod here or above, so no place for baselines.json: name a file with -baselines")
		}
		path = filepath.Join(dir, gate.FileName)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return real, err
}

// readBudgets reads the budget file. Without one it returns an empty file, and
// found is false.
func readBudgets(path string) (file *gate.File, found bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return new(gate.File), false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading budgets: %w", err)
	}
	if file, err = gate.ParseFile(text); err != nil {
		return nil, false, fmt.Errorf("reading budgets: %s: %w", path, err)
	}
	return file, true, nil
}

// changeBudgets reads the budget file, lets f change it, and writes it if that
// made a difference. Of several perfgates that do so at once each sees what the
// one before it wrote.
func changeBudgets(ctx context.Context, path string, f func(*gate.File) error) error {
	var unlock func() error
	err := unlessDone(ctx, func() (err error) {
		unlock, err = lockFolder(filepath.Dir(path))
		return err
	})
	if err != nil {
		return fmt.Errorf("writing budgets: %w", err)
	}
	defer unlock()
	removeUnfinished(path)
	file, found, err := readBudgets(path)
	if err != nil {
		return err
	}
	before := file.Format()
	if err := f(file); err != nil {
		return err
	}
	text := file.Format()
	if bytes.Equal(before, text) {
		return nil
	}
	if _, err := gate.ParseFile(text); err != nil {
		return fmt.Errorf("writing budgets: these could not be read again: %w", err)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); found && err == nil {
		mode = info.Mode().Perm()
	}
	if err := exact.WriteFile(path, text, mode); err != nil {
		return fmt.Errorf("writing budgets: %w", err)
	}
	return nil
}

// removeUnfinished removes what a perfgate that was killed while it wrote path has
// left beside it. Who calls has the lock, so that nobody is writing.
func removeUnfinished(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "."+filepath.Base(path)+".")
		if ok && number != "" && strings.Trim(number, "0123456789") == "" {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// writable reports an error if the budget file could not be written: better
// before than after measuring.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		err = f.Close()
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		// It is replaced by another file, which needs a folder to stand in.
		err = creatable(path)
	}
	if err != nil {
		return fmt.Errorf("writing budgets: %w", err)
	}
	return nil
}
