package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/cachekit-go/cachekit/perfgate/internal/count"
)

// owners tells in which function of the source a line stands. The compiler
// inlines: the symbol that executes a line may be of another function, and which
// one changes with the compiler's mood.
type owners struct {
	p     Profile
	files map[string][]declaration
}

// A declaration is a function in a source file.
type declaration struct {
	name  string // as symbols have it: "example.com/m.(*T).Add"
	first int    // line
	last  int
}

func newOwners(p Profile) owners { return owners{p, make(map[string][]declaration)} }

// name returns the function that l stands in. Function literals belong to the
// function around them. What stands in no Go source that can be read is the
// symbol's.
func (o owners) name(l count.Line) string {
	all, ok := o.files[l.File]
	if !ok {
		all = o.read(l.File)
		o.files[l.File] = all
	}
	i := slices.IndexFunc(all, func(d declaration) bool { return d.first <= l.Number && l.Number <= d.last })
	if i < 0 {
		return functionName(l.Function)
	}
	return all[i].name
}

func (o owners) read(file string) []declaration {
	if !strings.HasSuffix(file, ".go") || o.p.Source == nil {
		return nil
	}
	text, err := o.p.Source(file)
	if err != nil {
		return nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	pkg := f.Name.Name
	if o.p.Package != nil {
		if path := o.p.Package(file); path != "" && strings.HasSuffix(pkg, "_test") {
			pkg = strings.TrimSuffix(path, "_test") + "_test"
		} else if path != "" {
			pkg = path
		}
	}
	var all []declaration
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			line := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
			all = append(all, declaration{pkg + "." + receiver(d) + d.Name.Name, line(d.Pos()), line(d.End())})
		}
	}
	return all
}

// receiver returns "T." or "(*T)." for a method.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	pointer := false
	for t := d.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			pointer, t = true, x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			if pointer {
				return "(*" + x.Name + ")."
			}
			return x.Name + "."
		default:
			return ""
		}
	}
}

// isOf reports whether a symbol is a function, an instance of it, or a function
// literal in it, and not another one that it was inlined into.
func isOf(symbol, name string) bool {
	rest, ok := strings.CutPrefix(withoutTypes(functionName(symbol)), name)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '-')
}

// withoutTypes drops the type arguments of a name.
func withoutTypes(name string) string {
	var b strings.Builder
	depth := 0
	for _, r := range name {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}
