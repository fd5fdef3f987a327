package gate

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"sort"
	"strconv"
	"strings"
)

// allowedImports is what student Go may import: nothing that reaches files,
// the network, other processes, raw memory or the clock; and nothing of nn, whose layers
// contain what the tasks are about.
var allowedImports = map[string]bool{
	"flashlab/attn": true, "flashlab/device": true, "flashlab/tensor": true, "flashlab/hbm": true,
	"gonum.org/v1/gonum/blas": true, "gonum.org/v1/gonum/blas/blas32": true,
	"gonum.org/v1/gonum/blas/blas64": true, "gonum.org/v1/gonum/blas/gonum": true,
	"errors": true, "fmt": true, "math": true, "math/bits": true, "sort": true,
	"slices": true, "maps": true, "cmp": true, "strings": true, "strconv": true, "sync": true,
}

// CheckGo looks at one Go file. The compiler reports syntax errors better, but a
// file that cannot be parsed cannot be checked, so it is refused here with the
// same words.
func CheckGo(path string, src []byte, pkg string) []Refusal {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return syntaxErrors(path, err)
	}
	// Positions ignore //line comments: they are what a forger would write.
	line := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
	var refused []Refusal
	refuse := func(p token.Pos, what, do string) {
		refused = append(refused, Refusal{path, line(p), what, do})
	}
	if file.Name.Name != pkg {
		refuse(file.Name.Pos(), "package "+file.Name.Name, fmt.Sprintf("this task's files say package %s", pkg))
	}
	for _, imp := range file.Imports {
		checkImport(imp, refuse)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			at := fset.PositionFor(c.Pos(), false)
			if what := directive(c.Text, at.Column, c.Pos() < file.Package); what != "" {
				refuse(c.Pos(), what, "remove it: directives to the compiler are not allowed in a submission")
			}
		}
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if f.Recv == nil && f.Name.Name == "init" {
			refuse(f.Pos(), "func init", "do the work in New")
		}
		if f.Body == nil {
			refuse(f.Pos(), "func "+f.Name.Name+" has no body", "write one in Go")
		}
	}
	sort.SliceStable(refused, func(i, j int) bool { return refused[i].Line < refused[j].Line })
	return refused
}

func checkImport(imp *ast.ImportSpec, refuse func(token.Pos, string, string)) {
	name, err := strconv.Unquote(imp.Path.Value)
	if err != nil {
		name = imp.Path.Value
	}
	switch {
	case name == "C":
		refuse(imp.Pos(), "uses cgo", "kernels belong in the .cu file; Go reaches them through the device package")
	case strings.HasPrefix(name, "flashlab/task"):
		refuse(imp.Pos(), fmt.Sprintf("imports %q", name), "a task stands alone: it imports no task and no solution")
	case !allowedImports[name]:
		refuse(imp.Pos(), fmt.Sprintf("imports %q", name), "a submission may import "+allowedList())
	}
}

func allowedList() string {
	var names []string
	for name := range allowedImports {
		if !strings.HasPrefix(name, "gonum") {
			names = append(names, strings.TrimPrefix(name, "flashlab/"))
		}
	}
	sort.Strings(names)
	return strings.Join(names, ", ") + " and gonum's blas"
}

// directive names the compiler directive that a comment is, if it is one. Where it stands decides, as for the compiler:
// //line counts in a line's first column and with a number at its end, a build constraint above the package clause.
func directive(text string, column int, above bool) string {
	first, _, _ := strings.Cut(strings.TrimSuffix(text, "*/"), "\n")
	block, line := strings.HasPrefix(text, "/*line "), strings.HasPrefix(text, "//line ")
	switch {
	case strings.HasPrefix(text, "//go:"), (block || line && column == 1) && strings.Contains(text, ":"):
		return strings.TrimSpace(first)
	case above && (strings.HasPrefix(text, "// +build") || strings.HasPrefix(text, "//+build")):
		return "a build constraint"
	}
	return ""
}

func syntaxErrors(path string, err error) []Refusal {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return []Refusal{{path, 0, err.Error(), ""}}
	}
	var refused []Refusal
	for _, e := range list {
		if len(refused) == 5 {
			break
		}
		do := ""
		if strings.HasPrefix(e.Msg, "invalid line number") {
			do = "put a space after the slashes: Go reads a comment that begins with //line as a directive"
		}
		refused = append(refused, Refusal{path, e.Pos.Line, "syntax error: " + e.Msg, do})
	}
	return refused
}
