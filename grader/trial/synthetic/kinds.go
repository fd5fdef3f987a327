package synthetic

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/trial"
)

func solution(*class, map[string][]byte, *rubric.Task, int) (string, Fate, error) {
	return "solution", Full, nil
}

// stub hands the task in as it was handed out.
func stub(c *class, files map[string][]byte, t *rubric.Task, _ int) (string, Fate, error) {
	for _, f := range t.Files {
		data, err := os.ReadFile(filepath.Join(c.root, t.Dir, f))
		if err != nil {
			return "", "", err
		}
		files[path.Join(t.Dir, f)] = data
	}
	return "stub", None, nil
}

// expected is what a whole task comes to where a part of it is a specimen's.
var expected = map[trial.Fate]Fate{
	trial.Refused: Refused, trial.Zero: Lost, trial.Held: Held, trial.NoGain: Any, trial.Loses: Less, trial.Full: Full,
}

// specimen hands in a specimen of a kind, for each n another: some steps on, where neighbours by name
// are alike.
func specimen(kind string, step int) func(*class, map[string][]byte, *rubric.Task, int) (string, Fate, error) {
	return func(c *class, files map[string][]byte, t *rubric.Task, n int) (string, Fate, error) {
		all, err := trial.Load(c.root, kind, t)
		if err != nil {
			return "", "", err
		}
		// Links would need a packing of their own, some need a GPU, and some change another task.
		all = slices.DeleteFunc(all, func(s trial.Specimen) bool {
			return s.GPU || len(s.Links) > 0 || slices.ContainsFunc(s.Edits, func(e trial.Edit) bool { return strings.Contains(e.File, "/") })
		})
		if len(all) == 0 {
			return "", "", nil
		}
		s := all[n*step%len(all)]
		made, err := s.Made(c.root)
		for _, f := range made {
			files[path.Join(f.Task, f.Name)] = f.Data
		}
		return strings.TrimSuffix(kind, "s") + " " + s.Name, expected[s.Fate], err
	}
}

// honest is right, and looks unlike the solution: line ends of Windows, and remarks in another language.
func honest(_ *class, files map[string][]byte, t *rubric.Task, _ int) (string, Fate, error) {
	for _, f := range t.Files {
		data := append([]byte("// Abgabe von Jürgen – 作業, v2 (final)\n"), files[path.Join(t.Dir, f)]...)
		files[path.Join(t.Dir, f)] = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}
	return "honest, with other line ends", Full, nil
}

func uncompilable(_ *class, files map[string][]byte, t *rubric.Task, _ int) (string, Fate, error) {
	name := goFile(t)
	files[name] = append(bytes.Clone(files[name]), "\nvar forgotten int = \"a string\"\n"...)
	return "does not compile", Refused, nil
}

func forbidden(_ *class, files map[string][]byte, t *rubric.Task, _ int) (string, Fate, error) {
	name := goFile(t)
	files[name] = bytes.Replace(files[name], []byte("\nimport"), []byte("\nimport \"os\"\n\nvar _ = os.Exit\n\nimport"), 1)
	if !bytes.Contains(files[name], []byte("os.Exit")) {
		return "", "", fmt.Errorf("%s has no imports", name)
	}
	return "forbidden import", Refused, nil
}

// endless makes every exported function of the task's Go run for ever.
func endless(_ *class, files map[string][]byte, t *rubric.Task, _ int) (string, Fate, error) {
	name := goFile(t)
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, files[name], 0)
	if err != nil {
		return "", "", err
	}
	data := bytes.Clone(files[name])
	for _, d := range slices.Backward(parsed.Decls) {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Name.IsExported() && f.Name.Name != "New" {
			at := set.Position(f.Body.Lbrace).Offset + 1
			data = slices.Concat(data[:at], []byte("\n\tfor {\n\t}\n"), data[at:])
		}
	}
	files[name] = data
	return "endless", None, nil
}

// goFile is the task's first Go file.
func goFile(t *rubric.Task) string {
	for _, f := range t.Files {
		if path.Ext(f) == ".go" {
			return path.Join(t.Dir, f)
		}
	}
	return path.Join(t.Dir, t.Files[0])
}
