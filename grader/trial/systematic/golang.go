package main

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// ofGo finds the changes in Go's own syntax tree.
func ofGo(text string) (all []change, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "file.go", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return files.Position(p).Offset }
	put := func(kind string, from, to int, by string) {
		all = append(all, change{Kind: kind, Old: text[from:to], New: by, from: from, to: to})
	}
	more := func(kind string, e ast.Expr, by string) { // e becomes by + e
		if e != nil {
			put(kind, at(e.Pos()), at(e.End()), by+"("+text[at(e.Pos()):at(e.End())]+")")
		}
	}
	bounds := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			bounds[n.Cond] = true
			if init, is := n.Init.(*ast.AssignStmt); is && len(init.Rhs) == 1 {
				more(start, init.Rhs[0], "1+")
			}
		case *ast.RangeStmt:
			if n.Value == nil { // over a number, it may be: what does not build is no mutant
				more(bound, n.X, "-1+")
				more(bound, n.X, "1+")
			}
		case *ast.BinaryExpr:
			op, from := n.Op.String(), at(n.OpPos)
			kind := comparison
			if bounds[n] {
				kind = bound
			}
			all = append(all, compared(op, kind, from, from+len(op), op)...)
			if by, is := turned[op]; is {
				put(sign, from, from+1, by)
			}
		case *ast.IndexExpr:
			if name, is := n.Index.(*ast.Ident); !is || name.Name != "float32" { // a type's
				more(offset, n.Index, "1+")
			}
		case *ast.SliceExpr:
			more(offset, n.Low, "1+")
			more(offset, n.High, "-1+")
		case *ast.CallExpr:
			if name, is := n.Fun.(*ast.Ident); is && (name.Name == "min" || name.Name == "max") {
				put(extreme, at(name.Pos()), at(name.End()), map[string]string{"min": "max", "max": "min"}[name.Name])
			}
		}
		return true
	})
	return all, nil
}
