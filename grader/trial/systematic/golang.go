package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"strconv"
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
	bounds, named := map[ast.Node]bool{}, typesOf(f)
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
			if !named.noNumber(n.Index) { // as the T of device.Buffer[T]
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

// typeNames are the names by which a file's syntax tells a type from a number: its own types and type
// parameters, and the packages that it imports, by which no solution indexes.
type typeNames struct{ types, packages map[string]bool }

func typesOf(f *ast.File) typeNames {
	t := typeNames{map[string]bool{}, map[string]bool{}}
	parameters := func(list *ast.FieldList) {
		if list != nil {
			for _, field := range list.List {
				for _, name := range field.Names {
					t.types[name.Name] = true
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			if whole, err := strconv.Unquote(n.Path.Value); err == nil {
				t.packages[path.Base(whole)] = true
			}
			if n.Name != nil {
				t.packages[n.Name.Name] = true
			}
		case *ast.TypeSpec:
			t.types[n.Name.Name] = true
			parameters(n.TypeParams)
		case *ast.FuncType:
			parameters(n.TypeParams)
		}
		return true
	})
	return t
}

// noNumber tells whether what stands between brackets is a type argument, or a map's key in words.
func (t typeNames) noNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.Ident:
		_, predeclared := types.Universe.Lookup(e.Name).(*types.TypeName)
		return predeclared || t.types[e.Name]
	case *ast.SelectorExpr:
		name, is := e.X.(*ast.Ident)
		return is && t.packages[name.Name]
	case *ast.StarExpr:
		return t.noNumber(e.X)
	case *ast.IndexExpr: // Buffer[Pair[T]]
		return t.noNumber(e.Index)
	case *ast.ArrayType, *ast.MapType, *ast.FuncType, *ast.StructType, *ast.IndexListExpr:
		return true
	}
	return false
}
