//go:build linux

package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
)

// A source is a package, as go list describes it.
type source struct {
	ImportPath, Dir, Export string
	GoFiles, TestGoFiles    []string
}

// exports are the files with what packages export, by import path.
type exports map[string]string

func (x exports) open(path string) (io.ReadCloser, error) {
	if x[path] == "" {
		return nil, fmt.Errorf("no export data of %s", path)
	}
	return os.Open(x[path])
}

// A file is a parsed file.
type file struct {
	name   string
	text   []byte
	set    *token.FileSet
	syntax *ast.File
}

func parseFile(name string) (*file, error) {
	return parseInto(token.NewFileSet(), name)
}

func parseInto(set *token.FileSet, name string) (*file, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return &file{name, text, set, syntax}, err
}

// offset returns the place of p in the text. Line directives do not matter.
func (f *file) offset(p token.Pos) int { return f.set.PositionFor(p, false).Offset }

// start returns where a function begins, with its comment.
func (f *file) start(d *ast.FuncDecl) int {
	if d.Doc != nil {
		return f.offset(d.Doc.Pos())
	}
	return f.offset(d.Pos())
}

// lineStart returns where the line begins that n begins on.
func (f *file) lineStart(n ast.Node) int {
	p := f.set.PositionFor(n.Pos(), false)
	return p.Offset - p.Column + 1
}

// check parses the files of a package that are no tests, and finds out what
// each name in them stands for.
func (p *source) check(x exports) ([]*file, *types.Info, error) {
	set := token.NewFileSet()
	var files []*file
	var syntax []*ast.File
	for _, name := range p.GoFiles {
		f, err := parseInto(set, filepath.Join(p.Dir, name))
		if err != nil {
			return nil, nil, err
		}
		files, syntax = append(files, f), append(syntax, f.syntax)
	}
	info := &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}
	c := types.Config{Importer: importer.ForCompiler(set, "gc", x.open)}
	_, err := c.Check(p.ImportPath, set, syntax, info)
	return files, info, err
}
