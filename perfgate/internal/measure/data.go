package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/exact"
	"github.com/cachekit-go/cachekit/perfgate/internal/gate"
)

// Bounds of what is hashed of a package's folder.
const (
	maxDataFiles = 5000
	maxDataBytes = 128 << 20
)

// errTooMuch is the error of a folder with so much in it that looking at all of
// it would take longer than measuring.
var errTooMuch = errors.New("too much data in the package's folder")

// hashData returns a hash of the names and contents of the files that a package
// has beside its Go source: those of its folder, and of folders below it that
// hold no Go files, testdata above all.
func hashData(dir string) (string, error) {
	h := sha256.New()
	files, size := 0, int64(0)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		switch {
		case name == dir:
			return nil
		case !isData(rel) || e.IsDir() && !inTestdata(rel) && hasGo(name):
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case e.IsDir():
			fmt.Fprintf(h, "%q\n", rel)
			return nil
		}
		if files++; files > maxDataFiles {
			return errTooMuch
		}
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(name)
			fmt.Fprintf(h, "%q -> %q\n", rel, link)
			return err
		case e.Type().IsRegular():
			info, err := e.Info()
			if err != nil {
				return err
			}
			if size += info.Size(); size > maxDataBytes {
				return errTooMuch
			}
			return exact.HashFile(h, rel, name)
		}
		fmt.Fprintf(h, "%q\n", rel)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// isData reports whether a path below a package's folder may be that of data:
// no Go source of the package itself, no budgets, and nothing hidden.
func isData(rel string) bool {
	switch {
	case inTestdata(rel):
		return true
	case rel == gate.FileName, strings.HasPrefix(rel, "."), strings.Contains(rel, string(filepath.Separator)+"."):
		return false
	}
	return !strings.HasSuffix(rel, ".go") || filepath.Dir(rel) != "."
}

func inTestdata(rel string) bool {
	return rel == testdata || strings.HasPrefix(rel, testdata+string(filepath.Separator))
}

// hasData reports whether path is that of data of the package in dir, as
// [hashData] looks at it. The file may be gone.
func hasData(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) || !isData(rel) {
		return false
	}
	for d := filepath.Dir(path); len(d) > len(dir) && !inTestdata(rel); d = filepath.Dir(d) {
		if hasGo(d) {
			return false
		}
	}
	return true
}

// hasGo reports whether a folder has Go files.
func hasGo(dir string) bool { return len(goFiles(dir)) > 0 }

// hasCode reports whether a folder has Go files that are no tests.
func hasCode(dir string) bool {
	return slices.ContainsFunc(goFiles(dir), func(f string) bool { return !strings.HasSuffix(f, "_test.go") })
}

// goFiles returns the names of a folder's Go files; none if it cannot be read.
func goFiles(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") {
			names = append(names, e.Name())
		}
	}
	return names
}

func digestAll(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}
