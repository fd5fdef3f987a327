package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

// goFiles parses all of the course's Go, by path. What Go itself does not build (_versions, _bases, testdata) is left out.
func goFiles(t *testing.T, set *token.FileSet) map[string]*ast.File {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	all := map[string]*ast.File{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (name == "out" || name == "testdata" || strings.ContainsAny(name[:1], "._")):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if short, relErr := filepath.Rel(root, path); relErr == nil {
			all[short] = file
		}
		return err
	}))
	require.Greater(t, len(all), 500)
	return all
}

// packageOf is the folder of a file's package: a solution's files are built in its task's.
func packageOf(path string) string {
	dir := filepath.Dir(path)
	if filepath.Base(dir) == "solution" {
		return filepath.Dir(dir)
	}
	return dir
}

// TestCommentsNameWhatTheyStandOver: a comment begins with the name of the function or type below it, as it is
// spelled today. Over a test or a value it may be any sentence, but none that begins with another name.
// (staticcheck's ST1020 to ST1022 see exported names alone.)
func TestCommentsNameWhatTheyStandOver(t *testing.T) {
	set := token.NewFileSet()
	for path, file := range goFiles(t, set) {
		test := strings.HasSuffix(path, "_test.go")
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				wrong := misnamed(d.Name.Name, d.Doc, !test && d.Name.Name != "init" && d.Name.Name != "main")
				assert.Empty(t, wrong, "%s: over %s", set.Position(d.Pos()), d.Name.Name)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					name, doc := "", d.Doc
					var mustName bool
					switch s := s.(type) {
					case *ast.TypeSpec:
						name, mustName = s.Name.Name, !test
						if d.Lparen.IsValid() {
							doc = s.Doc
						}
					case *ast.ValueSpec:
						name = s.Names[0].Name
						if d.Lparen.IsValid() {
							doc = s.Doc
						}
					}
					assert.Empty(t, misnamed(name, doc, mustName), "%s: over %s", set.Position(s.Pos()), name)
				}
			}
		}
	}
}

var aName = regexp.MustCompile(`^[a-z]\w*$`)

// misnamed is the first word of a comment that should be a name, and is none or another one.
func misnamed(name string, doc *ast.CommentGroup, mustName bool) string {
	words := strings.Fields(doc.Text())
	if name == "" || len(words) == 0 {
		return ""
	}
	first := strings.TrimSuffix(strings.Trim(words[0], ",:;."), "'s")
	if first == name || !mustName && !aName.MatchString(first) {
		return ""
	}
	return first
}

func TestMisnamed(t *testing.T) {
	over := func(text string) *ast.CommentGroup {
		return &ast.CommentGroup{List: []*ast.Comment{{Text: "// " + text}}}
	}
	assert.Equal(t, "softmax", misnamed("Softmax", over("softmax is a batched one."), false))
	assert.Equal(t, "commitOf", misnamed("commit", over("commitOf names it."), true))
	assert.Equal(t, "What", misnamed("commit", over("What was measured."), true))
	assert.Empty(t, misnamed("TestX", over("What was measured."), false))
	assert.Empty(t, misnamed("commit", over("commit's text."), true))
	assert.Empty(t, misnamed("commit", nil, true))
}

// TestEveryPackageHasAComment, but for those of tests alone.
func TestEveryPackageHasAComment(t *testing.T) {
	has := map[string]bool{}
	for path, file := range goFiles(t, token.NewFileSet()) {
		if !strings.HasSuffix(path, "_test.go") {
			has[packageOf(path)] = has[packageOf(path)] || file.Doc != nil
		}
	}
	for folder, ok := range has {
		assert.True(t, ok, "%s: no file says above its package line what the package is", folder)
	}
}

// TestImportsStandInGroups: the standard library, then other modules, then this one, with a line between.
func TestImportsStandInGroups(t *testing.T) {
	set := token.NewFileSet()
	for path, file := range goFiles(t, set) {
		var kinds []string
		last := 0
		for _, i := range file.Imports {
			kind := importKind(i.Path.Value)
			line := set.Position(i.Pos()).Line
			n := len(kinds)
			mixed := n > 0 && line == last+1 && kinds[n-1] != kind
			again := n > 0 && kinds[n-1] != kind && slices.Contains(kinds, kind)
			assert.False(t, mixed || again, "%s: %s stands in a group of other imports", path, i.Path.Value)
			kinds, last = append(kinds, kind), line
		}
		assert.True(t, slices.IsSorted(kinds), "%s: the standard library comes first, this module last", path)
	}
}

// importKind is a group of imports; by their names groups are in order.
func importKind(quoted string) string {
	path, err := strconv.Unquote(quoted)
	first, _, _ := strings.Cut(path, "/")
	switch {
	case err == nil && first == "flashlab":
		return "3 this module"
	case strings.Contains(first, "."):
		return "2 other modules"
	}
	return "1 the standard library"
}

// TestTextsLeaveByOneFilter: commands on a class, and errors of all commands, print through package harmless, which
// writes out what a terminal would obey; and no other package writes tables. Files are looked at by the tests of
// grader/class/folder.
func TestTextsLeaveByOneFilter(t *testing.T) {
	set := token.NewFileSet()
	seen := 0
	for path, file := range goFiles(t, set) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		printer := begins(path, "grader/class grader/command/instructor") || path == "grader/command/command.go"
		tables := begins(path, "grader/class grader/command grader/grading")
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, _ := f.X.(*ast.Ident)
			switch {
			case from == nil:
			case printer && from.Name == "harmless":
				seen++
			case printer && from.Name == "fmt" && strings.HasPrefix(f.Sel.Name, "Print"),
				printer && from.Name == "fmt" && strings.HasPrefix(f.Sel.Name, "Fprint") && !inMemory(call.Args[0]):
				t.Errorf("%s: print it through package harmless", set.Position(call.Pos()))
			case tables && from.Name == "csv" && f.Sel.Name == "NewWriter":
				t.Errorf("%s: write tables with harmless.CSV", set.Position(call.Pos()))
			}
			return true
		})
	}
	assert.Greater(t, seen, 50)
}

// inMemory tells whether something is the address of a variable: a strings.Builder's.
func inMemory(e ast.Expr) bool {
	u, ok := e.(*ast.UnaryExpr)
	return ok && u.Op == token.AND
}

// TestNoFoldersNameIsAPattern: filepath.Glob takes a folder named "GPU [2026]" for a pattern, and finds nothing in it.
// glob.In does not.
func TestNoFoldersNameIsAPattern(t *testing.T) {
	set := token.NewFileSet()
	for path, file := range goFiles(t, set) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) == 0 {
				return true
			}
			f, is := call.Fun.(*ast.SelectorExpr)
			if !is || f.Sel.Name != "Glob" {
				return true
			}
			if of, is := f.X.(*ast.Ident); is && of.Name == "filepath" {
				_, literal := call.Args[0].(*ast.BasicLit)
				assert.True(t, literal, "%s: glob.In finds files below a folder of any name", set.Position(call.Pos()))
			}
			return true
		})
	}
}
