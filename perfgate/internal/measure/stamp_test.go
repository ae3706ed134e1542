package measure

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// began waits until the file system's clock has gone on, and begins.
func began(t *testing.T) *Start {
	t.Helper()
	scratch := t.TempDir()
	file := filepath.Join(scratch, "tick")
	tick := func() time.Time {
		err := os.WriteFile(file, []byte("x"), 0o666)
		info, e := os.Stat(file)
		if err := errors.Join(err, e); err != nil {
			t.Fatal(err)
		}
		return changeTime(info)
	}
	for first := tick(); !tick().After(first); {
	}
	if err := Begin(scratch); err != nil {
		t.Fatal(err)
	}
	return Began(scratch)
}

func TestStart(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		change func() error
		want   bool
	}{
		"nothing":        {"file", func() error { return nil }, false},
		"through a link": {"link", func() error { return nil }, false},
		"absent":         {"folder/absent", func() error { return nil }, false},
		"another":        {"file", func() error { return os.WriteFile("other", nil, 0o666) }, false},
		"undone": {"file", func() error {
			info, err := os.Stat("file")
			return errors.Join(err, os.WriteFile("file", []byte("y"), 0o666), os.WriteFile("file", []byte("x"), 0o666), os.Chtimes("file", info.ModTime(), info.ModTime()))
		}, true},
		"mode":          {"file", func() error { return os.Chmod("file", 0o600) }, true},
		"behind a link": {"link", func() error { return os.Chmod("file", 0o600) }, true},
		"the link":      {"link", func() error { return errors.Join(os.Remove("link"), os.Symlink("file", "link")) }, true},
		"came and went": {"folder/absent", func() error {
			return errors.Join(os.WriteFile("folder/absent", nil, 0o666), os.Remove("folder/absent"))
		}, true},
		"in the folder":  {"folder", func() error { return errors.Join(os.Mkdir("folder/new", 0o777), os.Remove("folder/new")) }, true},
		"renamed to it":  {"file", func() error { return os.Rename("old", "file") }, true},
		"no file at all": {"file", func() error { return os.Remove("file") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			err := errors.Join(os.WriteFile("file", []byte("x"), 0o666), os.WriteFile("old", []byte("x"), 0o666),
				os.WriteFile("other", nil, 0o666), os.Symlink("file", "link"), os.Mkdir("folder", 0o777))
			if err != nil {
				t.Fatal(err)
			}
			b := began(t)
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
			if got := b.Changed(c.path); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestStartOwn: what we write into a folder is no change of it, unless it had
// changed before, or does after.
func TestStartOwn(t *testing.T) {
	dir := t.TempDir()
	b := began(t)
	write := func() error { return os.WriteFile(filepath.Join(dir, "ours"), nil, 0o666) }
	if err := b.Own(dir, write); err != nil || b.Changed(dir) {
		t.Errorf("got %v and changed %v, want neither", err, b.Changed(dir))
	}
	if b := began(t); b.Own(dir, func() error { return os.Remove(filepath.Join(dir, "ours")) }) != nil || b.Changed(dir) {
		t.Error("removed by us: it has changed")
	}
	b = began(t)
	if write() != nil || b.Own(dir, write) != nil || !b.Changed(dir) {
		t.Error("changed before: it has not")
	}
	if b := Began(t.TempDir()); !b.Changed(dir) {
		t.Error("no one knows when it began: it has not changed")
	}
}
