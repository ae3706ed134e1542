package measure

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
)

// A Start is the moment at which a command began. It tells what may have changed
// since then, even if that was undone: by the times at which the system says that
// files changed, which nobody sets.
//
// The moment is itself such a time, that of a file which was made then. So a clock
// that goes in steps of milliseconds needs no slack: what changed after that file
// has its time or a later one.
type Start struct {
	at      time.Time            // zero if it is not known: then all may have changed
	scratch string               // without symbolic links
	own     map[string]time.Time // when we ourselves changed folders, by path without symbolic links
}

// begun is the file that was made when the command began.
const begun = "begun"

// Begin notes in the folder for temporary files that the command begins. It
// comes before anything that may change is looked at.
func Begin(scratch string) error {
	return os.WriteFile(filepath.Join(scratch, begun), []byte("\n"), 0o600)
}

// Began returns the moment that [Begin] noted.
func Began(scratch string) *Start {
	b := &Start{own: make(map[string]time.Time)}
	info, err := os.Stat(filepath.Join(scratch, begun))
	if err == nil {
		b.scratch, err = filepath.EvalSymlinks(scratch)
	}
	if err == nil {
		b.at = changeTime(info)
	}
	return b
}

// Own calls f, which writes files of ours into a folder of the user's. The folder
// does not count as changed for that.
func (b *Start) Own(dir string, f func() error) error {
	before := b.Changed(dir)
	err := f()
	if real, e := filepath.EvalSymlinks(dir); e == nil && !before {
		if info, e := os.Stat(real); e == nil {
			b.own[real] = changeTime(info)
		}
	}
	return err
}

// Changed reports whether a file may have changed: what is in it, its mode, or
// where it leads to. A folder has changed if something in it was made, removed or
// renamed, and so has what is absent in such a folder. Links in our own folder are
// ours: what they lead to counts.
func (b *Start) Changed(path string) bool {
	if inside(b.scratch, path) {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	if b.linkChanged(above(path)) {
		return true
	}
	for _, stat := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		info, err := stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return b.Changed(above(path))
		}
		if err != nil || !b.before(path, info) {
			return true
		}
	}
	return false
}

// linkChanged reports whether a folder's path leads through a symbolic link that
// may have changed. Those in our own folder are ours.
func (b *Start) linkChanged(dir string) bool {
	for ; dir != above(dir); dir = above(dir) {
		info, err := os.Lstat(dir)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 && !inside(b.scratch, dir) && !b.before(dir, info) {
			return true
		}
	}
	return false
}

// before reports whether a file changed last before the command began.
func (b *Start) before(path string, info fs.FileInfo) bool {
	t := changeTime(info)
	if info.IsDir() && len(b.own) > 0 {
		if real, err := filepath.EvalSymlinks(path); err == nil && b.own[real].Equal(t) {
			return true
		}
	}
	if t.Nanosecond() == 0 {
		t = t.Add(time.Second) // there are file systems that keep no more than the second
	}
	return t.Before(b.at)
}

// Packages returns what tells whether something that a package's test binary is
// made of may have changed. It looks at each folder once. What is in our own
// folder, as a base is, only we change; the standard library and the module cache
// nobody does, but go may have filled that only now.
func (b *Start) Packages(s *Session) func(pkg string) bool {
	common := slices.ContainsFunc(s.buildFiles(), func(f string) bool { return b.foreign(f) && b.Changed(f) })
	folders := make(map[string]bool)
	return func(pkg string) bool {
		i := slices.IndexFunc(s.Packages, func(p exact.Package) bool { return p.ImportPath == pkg })
		if i < 0 || common {
			return true
		}
		for dir := range s.Packages[i].Dirs {
			if _, ok := folders[dir]; !ok {
				folders[dir] = !inside(s.Go.ModCache, dir) && b.foreign(dir) && b.folderChanged(dir)
			}
			if folders[dir] {
				return true
			}
		}
		return false
	}
}

// foreign reports whether a path is not in our own folder.
func (b *Start) foreign(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err != nil || !inside(b.scratch, real)
}

// folderChanged reports whether source in a package's folder, or the go.mod file
// that holds for it, may have changed; if the package embeds files, whether
// anything below did.
func (b *Start) folderChanged(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || b.Changed(dir) {
		return true
	}
	embeds := false
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch filepath.Ext(e.Name()) {
		case ".go":
			text, err := os.ReadFile(path)
			if err != nil || b.Changed(path) {
				return true
			}
			embeds = embeds || bytes.Contains(text, []byte("//go:embed"))
		case ".s", ".h", ".syso", ".pgo":
			if b.Changed(path) {
				return true
			}
		}
	}
	return b.Changed(moduleFile(dir)) || embeds && b.anyChanged(dir)
}

// moduleFile returns the go.mod file of the module that a folder is in; its own if
// there is none.
func moduleFile(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if f := filepath.Join(d, "go.mod"); exists(f) {
			return f
		}
		if d == filepath.Dir(d) {
			return filepath.Join(dir, "go.mod")
		}
	}
}

// anyChanged reports whether a file or folder below dir may have changed, but for
// what hidden folders hold.
func (b *Start) anyChanged(dir string) bool {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != dir && e.IsDir() && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case b.Changed(path):
			return fs.ErrInvalid
		}
		return nil
	})
	return err != nil
}

// buildFiles returns the files that all builds of a session depend on.
func (s *Session) buildFiles() []string {
	if s.Go == nil {
		return nil // a tree without the module has no packages either
	}
	files := s.Go.SettingFiles()
	for _, f := range []string{s.Go.ModFile, s.Go.Work} {
		if f != "" && f != workOff {
			files = append(files, f)
		}
	}
	return files
}
