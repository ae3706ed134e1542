package measure

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// equalBenchmarks returns the benchmark functions whose source is the same in
// both, with all that they use of the test files.
func equalBenchmarks(a, b map[string][]byte) map[string]bool {
	equal := make(map[string]bool)
	other := benchmarkSources(b)
	for name, source := range benchmarkSources(a) {
		if other[name] == source {
			equal[name] = true
		}
	}
	return equal
}

// benchmarkSources returns, for each benchmark function in test files, a hash of
// its source and that of everything in the files that it may use: declarations
// whose names occur in it, what those use, init functions and TestMain.
func benchmarkSources(files map[string][]byte) map[string]string {
	type declaration struct {
		text  string
		names []string // identifiers that occur in it
	}
	declared := make(map[string][]declaration)
	always := []string{"init", "TestMain", "_"}
	var benchmarks []string
	fset := token.NewFileSet()
	for _, file := range slices.Sorted(maps.Keys(files)) {
		f, err := parser.ParseFile(fset, file, files[file], parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			continue // no function of it compiles
		}
		add := func(n ast.Node, names ...string) {
			begin := n.Pos()
			if doc := docOf(n); doc != nil {
				begin = doc.Pos()
			}
			d := declaration{text: tokens(files[file][fset.Position(begin).Offset:fset.Position(n.End()).Offset])}
			ast.Inspect(n, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					d.names = append(d.names, id.Name)
				}
				return true
			})
			for _, name := range names {
				declared[name] = append(declared[name], d)
			}
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				// A method may be called by way of an interface: it belongs to
				// its type.
				add(d, append(receiver(d), d.Name.Name)...)
				if d.Recv == nil && strings.HasPrefix(d.Name.Name, "Benchmark") {
					benchmarks = append(benchmarks, d.Name.Name)
				}
			case *ast.GenDecl:
				var names []string
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.ValueSpec:
						for _, id := range s.Names {
							names = append(names, id.Name)
						}
					case *ast.TypeSpec:
						names = append(names, s.Name.Name)
					case *ast.ImportSpec:
						names = append(names, importName(s))
					}
				}
				if d.Tok == token.IMPORT {
					for i, spec := range d.Specs {
						add(spec, names[i])
					}
					continue
				}
				add(d, names...)
			}
		}
	}
	sources := make(map[string]string)
	for _, b := range benchmarks {
		seen := make(map[string]bool)
		queue := append([]string{b, "."}, always...)
		var texts []string
		for len(queue) > 0 {
			name := queue[0]
			queue = queue[1:]
			if seen[name] {
				continue
			}
			seen[name] = true
			for _, d := range declared[name] {
				texts = append(texts, d.text)
				queue = append(queue, d.names...)
			}
		}
		slices.Sort(texts)
		sources[b] = digestAll(slices.Compact(texts)...) // two files may import the same
	}
	return sources
}

// docOf returns the comment in front of a declaration, which may have words to
// the compiler.
func docOf(n ast.Node) *ast.CommentGroup {
	switch d := n.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// receiver returns the name of a method's type, none for a function.
func receiver(d *ast.FuncDecl) (names []string) {
	if d.Recv == nil {
		return nil
	}
	for _, f := range d.Recv.List {
		ast.Inspect(f.Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
			return true
		})
	}
	return names
}

// tokens returns source code without its layout and comments, but for those to
// the compiler.
func tokens(source []byte) string {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(source)), source, nil, scanner.ScanComments)
	var b strings.Builder
	for {
		_, tok, text := s.Scan()
		if tok == token.COMMENT && !strings.HasPrefix(text, "//go:") {
			continue
		}
		if tok == token.EOF {
			return b.String()
		}
		if text == "" || tok == token.SEMICOLON {
			text = tok.String()
		}
		b.WriteString(text + " ")
	}
}

// importName returns the name that a file knows a package by, as far as the
// import tells: the last element of the path that is no version.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return s.Path.Value
	}
	name := path.Base(p)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(p))
	}
	name, _, _ = strings.Cut(name, ".")
	return strings.TrimPrefix(name, "go-")
}

func digestAll(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
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
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			sum := sha256.New()
			_, err = io.Copy(sum, f)
			fmt.Fprintf(h, "%q %x\n", rel, sum.Sum(nil))
			return err
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
	case rel == "baselines.json", strings.HasPrefix(rel, "."), strings.Contains(rel, string(filepath.Separator)+"."):
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

func hasGo(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(escaped(dir), "*.go"))
	return len(files) > 0
}

// escaped returns a path as a pattern that matches it alone.
func escaped(path string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(path, `\$0`)
}
