package measure

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Warnings returns what the sources of the measured packages' benchmarks tell
// about their counts: a timer that is stopped inside of the loop, since
// instructions are counted whether the timer runs or not. Files are named
// relative to the request's folder.
func (s *Session) Warnings() []string {
	match := newMatcher(s.req.Bench, s.req.Skip)
	var all []string
	for _, p := range s.Packages {
		var files []string
		for _, b := range p.Benchmarks {
			if !slices.Contains(files, b.File) {
				files = append(files, b.File)
			}
		}
		for _, f := range files {
			for _, line := range stoppedTimers(f, match.mayContain) {
				all = append(all, fmt.Sprintf("%s:%d: StopTimer in the loop: what runs until StartTimer is counted too", s.relative(f), line))
			}
		}
	}
	return all
}

// relative returns a path relative to the request's folder, if that is shorter
// than to go up.
func (s *Session) relative(path string) string {
	rel, err := filepath.Rel(s.req.Dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}

// stoppedTimers returns the lines of a file with a call of StopTimer inside of
// a loop over b.N or b.Loop, except in benchmark functions that are not selected.
// A file that does not parse has none: it will not compile either.
func stoppedTimers(file string, selected func(function string) bool) []int {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var lines []int
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || strings.HasPrefix(fn.Name.Name, "Benchmark") && !selected(fn.Name.Name) {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			body := loopBody(n)
			if body == nil {
				return true
			}
			ast.Inspect(body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && calls(call, "StopTimer") {
					lines = append(lines, fset.Position(call.Pos()).Line)
				}
				return true
			})
			return true
		})
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// loopBody returns the body of a benchmark's loop, nil for anything else.
func loopBody(n ast.Node) *ast.BlockStmt {
	var over ast.Expr
	var body *ast.BlockStmt
	switch loop := n.(type) {
	case *ast.ForStmt:
		over, body = loop.Cond, loop.Body
	case *ast.RangeStmt:
		over, body = loop.X, loop.Body
	}
	if over == nil {
		return nil
	}
	found := false
	ast.Inspect(over, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.SelectorExpr:
			found = found || e.Sel.Name == "N"
		case *ast.CallExpr:
			found = found || calls(e, "Loop")
		}
		return true
	})
	if !found {
		return nil
	}
	return body
}

func calls(c *ast.CallExpr, method string) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == method
}
