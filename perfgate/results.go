package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/measure"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

// Bounds of a folder of results: what was not used for so long goes, and the
// oldest beyond so many.
const (
	resultsAge   = 60 * 24 * time.Hour
	resultsCount = 500
)

// results is a folder of documents that were measured earlier, by a key that
// has what decides them and is known before anything runs. What is known only
// then, files that the benchmarks look at, is written in front of the document.
type results struct{ dir string }

// resultKey makes a key of its parts.
func resultKey(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%q\n", fmt.Sprint(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (r results) path(key string) string { return filepath.Join(r.dir, key) }

// load returns a document, or nil if there is none that is whole and still
// right: the first line of a file is the checksum of the rest.
func (r results) load(key string) *report.Document {
	text, err := os.ReadFile(r.path(key))
	if err != nil {
		return nil
	}
	sum, body, _ := bytes.Cut(text, []byte("\n"))
	if string(sum) != checksum(body) {
		return nil
	}
	rest := bytes.NewReader(body)
	d := json.NewDecoder(rest)
	var files []seenFile
	if d.Decode(&files) != nil || slices.ContainsFunc(files, func(f seenFile) bool { return !f.same() }) {
		return nil
	}
	document, err := report.ReadJSON(io.MultiReader(d.Buffered(), rest))
	if err != nil {
		return nil
	}
	now := time.Now()
	os.Chtimes(r.path(key), now, now) // used: it stays. Without it is only removed earlier.
	return document
}

// store writes a document that depends on files too, and removes what is old.
// Files that cannot be seen again as they are make it do nothing, and so do those
// that changed while it was made: it is of no one content of them. What is stored
// already stays, as it was right for the files that it names.
func (r results) store(key string, d *report.Document, files []string, changed func(path string) bool) error {
	seen := make([]seenFile, len(files))
	for i, f := range files {
		var ok bool
		if seen[i], ok = see(f); !ok {
			return nil
		}
	}
	// After they were seen. The kernel's settings have no times.
	if slices.ContainsFunc(files, func(f string) bool { return !underAny(f, kernelSettings) && changed(f) }) {
		return nil
	}
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(seen); err != nil {
		return err
	}
	if err := d.WriteJSON(&body); err != nil {
		return err
	}
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return err
	}
	text := append([]byte(checksum(body.Bytes())+"\n"), body.Bytes()...)
	if err := exact.WriteFile(r.path(key), text, 0o666); err != nil {
		return err
	}
	r.prune(time.Now())
	return nil
}

// kernelSettings is where the kernel shows what somebody set. Programs that listen
// read some of it.
const kernelSettings = "/proc/sys"

// A seenFile is a file that benchmarks looked at.
//
// Note: its time is not part of it, although a benchmark may see that. In a fresh
// checkout, and after a build that writes the same files again, all times are others.
type seenFile struct {
	Path string
	Link string      // what a symbolic link says
	Mode fs.FileMode // of what it leads to
	Sum  string      // of a file's content or a folder's names; "" if there was none
}

// see looks at a file. ok is false for what may change without a trace, such as
// a device or what the kernel makes up.
func see(path string) (f seenFile, ok bool) {
	f.Path = path
	f.Link, _ = os.Readlink(path) // which fails for what is no link
	info, err := os.Stat(path)
	if err == nil {
		f.Mode = info.Mode()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, true
	case err != nil, underAny(measure.Resolve(path), "/proc", "/sys") && !underAny(path, kernelSettings):
		return f, false
	case path == os.DevNull:
		f.Sum = "null"
		return f, true
	case info.IsDir():
		entries, err := os.ReadDir(path)
		h := sha256.New()
		for _, e := range entries {
			fmt.Fprintf(h, "%q %v\n", e.Name(), e.Type())
		}
		f.Sum = hex.EncodeToString(h.Sum(nil))
		return f, err == nil
	case !info.Mode().IsRegular():
		return f, false
	}
	content, err := os.Open(path)
	if err != nil {
		return f, false
	}
	defer content.Close()
	h := sha256.New()
	_, err = io.Copy(h, content)
	f.Sum = hex.EncodeToString(h.Sum(nil))
	return f, err == nil
}

func underAny(path string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return path == d || strings.HasPrefix(path, d+"/") })
}

func (f seenFile) same() bool {
	now, ok := see(f.Path)
	return ok && now == f
}

func (r results) forget(key string) { os.Remove(r.path(key)) }

// prune removes old results. What cannot be removed does no harm.
func (r results) prune(now time.Time) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return
	}
	type aged struct {
		name string
		used time.Time
	}
	var all []aged
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			all = append(all, aged{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return b.used.Compare(a.used) })
	for i, a := range all {
		if i >= resultsCount || now.Sub(a.used) > resultsAge {
			os.Remove(filepath.Join(r.dir, a.name))
		}
	}
}

func checksum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
