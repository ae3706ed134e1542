package measure

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

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
