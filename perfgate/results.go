package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/report"
)

// Bounds of a folder of results: what was not used for so long goes, and the
// oldest beyond so many.
const (
	resultsAge   = 60 * 24 * time.Hour
	resultsCount = 500
)

// results is a folder of documents that were measured earlier, by a key that
// has all that decides them.
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

// load returns a document, or nil if there is none that is whole: the first
// line of a file is the checksum of the rest.
func (r results) load(key string) *report.Document {
	text, err := os.ReadFile(r.path(key))
	if err != nil {
		return nil
	}
	sum, body, _ := bytes.Cut(text, []byte("\n"))
	if string(sum) != checksum(body) {
		return nil
	}
	d, err := report.ReadJSON(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	now := time.Now()
	os.Chtimes(r.path(key), now, now) // used: it stays. Without it is only removed earlier.
	return d
}

// store writes a document, and removes what is old.
func (r results) store(key string, d *report.Document) error {
	var body bytes.Buffer
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
