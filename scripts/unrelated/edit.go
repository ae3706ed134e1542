//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An edit is one change of a file.
type edit struct {
	kind  string
	where string // file:line, relative to the tree
	what  string
}

func (e edit) String() string { return fmt.Sprintf("%-10s %s: %s", e.kind, e.where, e.what) }

// The kinds of edits, in the order in which a summary counts them.
var kinds = []string{"function", "comment", "rename", "test", "import"}

func summary(edits []edit) string {
	var parts []string
	for _, kind := range kinds {
		n := 0
		for _, e := range edits {
			if e.kind == kind {
				n++
			}
		}
		parts = append(parts, plural(n, kind))
	}
	return strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// imports are packages that do something when a program starts, or bring such
// packages along, and that core has no use for.
var imports = []string{
	"archive/tar", "archive/zip", "compress/bzip2", "container/list", "container/ring", "database/sql", "encoding/asn1",
	"hash/crc64", "html", "html/template", "image/color", "image/png", "index/suffixarray", "log/slog", "mime",
	"net/mail", "net/textproto", "net/url", "regexp/syntax", "text/scanner", "text/tabwriter", "text/template",
}

// An editor makes edits of core, as a seed decides.
type editor struct {
	tree     string
	packages []*source // the packages of core that the benchmarks link
	exports  exports
	rand     *rand.Rand
	n        int // edits made
	bag      []string
}

// newEditor looks at the packages of a lab's tree.
func newEditor(ctx context.Context, l *lab, seed uint64) (*editor, error) {
	args := append([]string{"list", "-test", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles", "./bench"}, imports...)
	text, err := l.output(ctx, "go", args...)
	if err != nil {
		return nil, err
	}
	module, err := l.output(ctx, "go", "list", "-m")
	if err != nil {
		return nil, err
	}
	core := strings.TrimSpace(string(module)) + "/core"
	e := &editor{tree: l.tree, exports: make(exports), rand: rand.New(rand.NewPCG(seed, 0))}
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		p := new(source)
		err := dec.Decode(p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		e.exports[p.ImportPath] = p.Export
		if p.ImportPath == core || strings.HasPrefix(p.ImportPath, core+"/") {
			e.packages = append(e.packages, p)
		}
	}
	if len(e.packages) == 0 {
		return nil, errors.New("./bench links no package of core")
	}
	return e, nil
}

// apply makes n edits: of every five in a row, one of each kind.
func (e *editor) apply(n int) ([]edit, error) {
	var edits []edit
	for range n {
		if len(e.bag) == 0 {
			e.bag = slices.Clone(kinds)
			e.rand.Shuffle(len(e.bag), func(i, j int) { e.bag[i], e.bag[j] = e.bag[j], e.bag[i] })
		}
		kind := e.bag[0]
		e.bag = e.bag[1:]
		e.n++
		made, err := e.make(kind, pick(e.rand, e.packages))
		if err != nil {
			return edits, fmt.Errorf("edit %d (%s): %w", e.n, kind, err)
		}
		edits = append(edits, made)
	}
	return edits, nil
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// make makes one edit of a package.
func (e *editor) make(kind string, p *source) (edit, error) {
	switch kind {
	case "test":
		return e.test(p)
	case "rename":
		return e.rename(p)
	}
	f, err := parseFile(filepath.Join(p.Dir, pick(e.rand, p.GoFiles)))
	if err != nil {
		return edit{}, err
	}
	switch kind {
	case "comment":
		return e.comment(f)
	case "import":
		return e.addImport(f)
	}
	return e.function(f)
}

// function adds a function that nothing calls, before a declaration or at the
// end.
func (e *editor) function(f *file) (edit, error) {
	name := fmt.Sprintf("unrelated%d", e.n)
	text := fmt.Sprintf("// %s is unrelated.\nfunc %s(n int) int {\n\ttotal := %d\n\tfor i := range n {\n\t\ttotal = total*%d ^ i>>%d\n\t}\n\treturn total\n}\n\n",
		name, name, e.rand.IntN(1000), 3+e.rand.IntN(1000), e.rand.IntN(8))
	places := []int{len(f.text)}
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			places = append(places, f.start(fn))
		}
	}
	at := pick(e.rand, places)
	return e.write(f, "function", "func "+name, replacement{at, at, "\n" + text})
}

// comment adds one to three lines before a statement that begins a line.
func (e *editor) comment(f *file) (edit, error) {
	var places []int
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok {
			if line := f.lineStart(s); strings.TrimSpace(string(f.text[line:f.offset(s.Pos())])) == "" {
				places = append(places, line)
			}
		}
		return true
	})
	if len(places) == 0 {
		places = append(places, len(f.text))
	}
	at, lines := pick(e.rand, places), 1+e.rand.IntN(3)
	return e.write(f, "comment", plural(lines, "line"), replacement{at, at, strings.Repeat(fmt.Sprintf("// Unrelated %d.\n", e.n), lines)})
}

// addImport imports a package that is not imported yet, for what it does at
// start-up.
func (e *editor) addImport(f *file) (edit, error) {
	var left []string
	for _, path := range imports {
		if !slices.ContainsFunc(f.syntax.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"`+path+`"` }) {
			left = append(left, path)
		}
	}
	if len(left) == 0 {
		return edit{}, fmt.Errorf("%s imports all that there are to import", f.name)
	}
	path := pick(e.rand, left)
	at := f.offset(f.syntax.Name.End())
	return e.write(f, "import", path, replacement{at, at, fmt.Sprintf("\n\nimport _ %q", path)})
}

// test adds a test to a file of tests, or in a new one.
func (e *editor) test(p *source) (edit, error) {
	text := fmt.Sprintf("\nfunc TestUnrelated%d(t *testing.T) {\n\tif got := len(t.Name()); got == %d {\n\t\tt.Error(got)\n\t}\n}\n", e.n, 100+e.n)
	what := fmt.Sprintf("TestUnrelated%d", e.n)
	for _, i := range e.rand.Perm(len(p.TestGoFiles)) {
		f, err := parseFile(filepath.Join(p.Dir, p.TestGoFiles[i]))
		if err != nil {
			return edit{}, err
		}
		if slices.ContainsFunc(f.syntax.Imports, func(s *ast.ImportSpec) bool { return s.Name == nil && s.Path.Value == `"testing"` }) {
			return e.write(f, "test", what, replacement{len(f.text), len(f.text), text})
		}
	}
	like, err := parseFile(filepath.Join(p.Dir, p.GoFiles[0]))
	if err != nil {
		return edit{}, err
	}
	name := fmt.Sprintf("unrelated%d_test.go", e.n)
	p.TestGoFiles = append(p.TestGoFiles, name)
	f := &file{name: filepath.Join(p.Dir, name), text: fmt.Appendf(nil, "package %s\n\nimport \"testing\"\n", like.syntax.Name)}
	return e.write(f, "test", what, replacement{len(f.text), len(f.text), text})
}

// rename gives a local variable another name.
func (e *editor) rename(p *source) (edit, error) {
	files, info, err := p.check(e.exports)
	if err != nil {
		return edit{}, err
	}
	type variable struct {
		f     *file
		ident *ast.Ident
		of    types.Object
	}
	var all []variable
	for _, f := range files {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name != "_" {
					if v, ok := info.Defs[id].(*types.Var); ok && !v.IsField() {
						all = append(all, variable{f, id, v})
					}
				}
				return true
			})
		}
	}
	if len(all) == 0 {
		return edit{}, fmt.Errorf("%s has no local variable", p.ImportPath)
	}
	v := pick(e.rand, all)
	name := fmt.Sprintf("%sUnrelated%d", v.ident.Name, e.n)
	var changes []replacement
	ast.Inspect(v.f.syntax, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && (info.Defs[id] == v.of || info.Uses[id] == v.of) {
			changes = append(changes, replacement{v.f.offset(id.Pos()), v.f.offset(id.End()), name})
		}
		return true
	})
	return e.write(v.f, "rename", v.ident.Name+" to "+name, changes...)
}

// A replacement puts text in place of the bytes from start to end.
type replacement struct {
	start, end int
	text       string
}

// write changes a file. The places of the changes are those in f.
func (e *editor) write(f *file, kind, what string, changes ...replacement) (edit, error) {
	slices.SortFunc(changes, func(a, b replacement) int { return b.start - a.start })
	text := slices.Clone(f.text)
	for _, c := range changes {
		text = slices.Replace(text, c.start, c.end, []byte(c.text)...)
	}
	formatted, err := format.Source(text)
	if err != nil {
		return edit{}, fmt.Errorf("%s: %w", f.name, err)
	}
	rel, err := filepath.Rel(e.tree, f.name)
	if err != nil {
		return edit{}, err
	}
	line := 1 + bytes.Count(f.text[:changes[len(changes)-1].start], []byte("\n"))
	return edit{kind, fmt.Sprintf("%s:%d", rel, line), what}, os.WriteFile(f.name, formatted, 0o600)
}
