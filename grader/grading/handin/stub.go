package handin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// given are functions that the stubs themselves have written.
var given = map[string]bool{"New": true, "NewTiled": true}

// Stubs names the functions of a Go file that still answer 'not implemented':
// those that mention attn.ErrNotImplemented. A file that does not parse has none;
// the compiler says more about it.
// The other functions are written; what the stubs bring does not count, and neither do
// the methods and the constructor New… of optional types.
func Stubs(src []byte, optional []string) (stubs, written []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || slices.Contains(optional, typeOf(f)) {
			continue
		}
		unwritten := empty(f.Body)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			unwritten = unwritten || ok && s.Sel.Name == "ErrNotImplemented"
			return true
		})
		switch {
		case unwritten:
			stubs = append(stubs, f.Name.Name)
		case !given[f.Name.Name]:
			written = append(written, f.Name.Name)
		}
	}
	return stubs, written
}

// empty tells whether all that a function does is to return a struct with nothing in it: the stub of one that
// cannot return an error.
func empty(body *ast.BlockStmt) bool {
	if len(body.List) != 1 {
		return false
	}
	r, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return false
	}
	l, ok := r.Results[0].(*ast.CompositeLit)
	return ok && len(l.Elts) == 0
}

// typeOf names the type that a function is a method or the constructor of; "" for any other.
func typeOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		name, _ := strings.CutPrefix(f.Name.Name, "New")
		return name
	}
	t := f.Recv.List[0].Type
	if star, is := t.(*ast.StarExpr); is {
		t = star.X
	}
	if name, is := t.(*ast.Ident); is {
		return name.Name
	}
	return ""
}
