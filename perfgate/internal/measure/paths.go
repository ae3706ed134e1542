package measure

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// inside reports whether a path is dir or below it, as the two are spelled.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

// Resolve returns a path without symbolic links. Of what is not there the folders
// that are there count.
func Resolve(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && path != above(path) {
		return filepath.Join(Resolve(above(path)), filepath.Base(path))
	}
	if err != nil {
		return path
	}
	return real
}

// above returns the folder that a path is in. It does not clean the path, as
// [filepath.Dir] does: ".." behind a link is another folder then.
func above(path string) string {
	switch i := strings.LastIndexByte(path, filepath.Separator); i {
	case -1:
		return "."
	case 0:
		return path[:1]
	default:
		return path[:i]
	}
}
