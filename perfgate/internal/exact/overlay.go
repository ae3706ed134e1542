package exact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// An Overlay is the edited files of a toolchain, on disk.
type Overlay struct {
	File   string   // the JSON file that go's -overlay takes
	Hash   string   // of the contents
	Edited []string // files, below GOROOT/src
	Edits  int      // made in them

	dir string // the edited files, as below GOROOT/src
}

// Path returns where the text of an edited file is.
func (o *Overlay) Path(file string) string { return filepath.Join(o.dir, filepath.FromSlash(file)) }

// Overlay edits the files of g's toolchain and writes them to the cache folder,
// unless they are there already. The toolchain itself is not touched.
func (g *Go) Overlay(f Flags) (*Overlay, error) {
	if own := g.Flag("overlay"); own != "" {
		return nil, fmt.Errorf("GOFLAGS has -overlay=%s: go takes one overlay, and perfgate needs it", own)
	}
	files, n, err := apply(g.GOARCH, f, g.read)
	if err != nil {
		return nil, fmt.Errorf("this %s is not one that perfgate can make exact (known to work: %s): %w", g.Version, worksWith, err)
	}
	names := slices.Sorted(maps.Keys(files))
	var all []string
	for _, name := range names {
		all = append(all, name, files[name])
	}
	o := &Overlay{Hash: digest(append(all, g.Root)...), Edited: names, Edits: n}
	o.dir = filepath.Join(g.Cache, "std-"+o.Hash)
	replace := make(map[string]string)
	for _, name := range names {
		path := o.Path(name)
		if err := writeOnce(path, []byte(files[name])); err != nil {
			return nil, fmt.Errorf("writing edited files: %w", err)
		}
		replace[filepath.Join(g.Root, "src", filepath.FromSlash(name))] = path
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return nil, err
	}
	o.File = filepath.Join(o.dir, "overlay.json")
	return o, writeOnce(o.File, text)
}

// writeOnce makes path hold data. What is there and equal stays; anything else,
// such as what a full disk left, is replaced. Concurrent writers do no harm.
func writeOnce(path string, data []byte) error {
	if have, err := os.ReadFile(path); err == nil && string(have) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return WriteFile(path, data, 0o644)
}

// WriteFile writes a file through a temporary one beside it, so that it holds
// either the old content or all of the new.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// digest returns a short hash of a list of strings.
func digest(list ...string) string {
	h := sha256.New()
	for _, s := range list {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
