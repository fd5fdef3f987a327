package skeleton

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

var idForm = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// checkPoints are what a new check is worth until someone decides.
const checkPoints = 0.5

// check is what a new check's pieces are filled with.
type check struct {
	Task, ID, Op, Method string
	Package, Type        string
	Room                 string
}

// NewCheck adds a check to a task: to its rubric, its room, its worker, and a method to the stub and
// to the solution that is not programmed yet. It returns the names of what it changed.
func NewCheck(root, name, id string) ([]string, error) {
	t, err := rubric.Load(root, name)
	if err != nil {
		return nil, err
	}
	if !idForm.MatchString(id) {
		return nil, fmt.Errorf("the check %q: want an id of lower-case letters and digits, like masked", id)
	}
	for _, c := range t.Checks {
		if c.ID == id {
			return nil, fmt.Errorf("task %s has a check %q already", t.Name, id)
		}
	}
	line := registry.Task{Name: t.Name, Dir: t.Dir}
	file, typ, err := holder(root, t)
	if err != nil {
		return nil, err
	}
	c := check{Task: string(t.Name), ID: id, Method: strings.ToUpper(id[:1]) + id[1:], Package: t.Package, Type: typ, Room: filepath.Base(line.Room())}
	c.Op = c.Room + "_" + id
	texts := map[string][]byte{}
	edit := func(name string, change func(text []byte) ([]byte, error)) error {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if texts[name], err = change(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	added := line.Room() + "/" + id + ".go"
	if _, err := os.Stat(filepath.Join(root, added)); err == nil {
		return nil, fmt.Errorf("%s is there already", added)
	}
	texts[added], err = format.Source([]byte(c.fill(checkOp)))
	err = errors.Join(err,
		edit(t.Dir+"/rubric.toml", func(text []byte) ([]byte, error) { return c.inRubric(text, t.Points) }),
		edit(t.Dir+"/"+file, c.method), edit(t.Dir+"/solution/"+file, c.method),
		edit(line.Room()+"/ops.go", c.inList),
		edit(line.Room()+"/worker/main.go", c.inWorker))
	if err != nil {
		return nil, err
	}
	return write(root, texts)
}

// holder is the student's file that declares what New returns, and that type's name.
func holder(root string, t *rubric.Task) (file, typ string, err error) {
	for _, name := range t.Files {
		if filepath.Ext(name) != ".go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, t.Dir, name), nil, 0)
		if err != nil {
			return "", "", err
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Name.Name != "New" || f.Type.Results == nil {
				continue
			}
			if star, ok := f.Type.Results.List[0].Type.(*ast.StarExpr); ok {
				if id, ok := star.X.(*ast.Ident); ok {
					return name, id.Name, nil
				}
			}
		}
	}
	return "", "", fmt.Errorf("task %s has no func New that returns a pointer to one of its types: add this check by hand (CONTRIBUTING.md)", t.Name)
}

func (c check) fill(text string) string {
	return strings.NewReplacer("TASK", c.Task, "METHOD", c.Method, "PACKAGE", c.Package, "TYPE", c.Type, "ROOM", c.Room, "OP", c.Op, "ID", c.ID).Replace(text)
}

var pointsLine = regexp.MustCompile(`(?m)^points(\s*)= *[0-9.]+`)

// inRubric adds the check, and its points to the task's.
func (c check) inRubric(text []byte, points float64) ([]byte, error) {
	at := pointsLine.FindIndex(text)
	if at == nil {
		return nil, errors.New("there is no line points = …")
	}
	sum := pointsLine.ReplaceAll(text[at[0]:at[1]], fmt.Appendf(nil, "points${1}= %g", points+checkPoints))
	text = bytes.Join([][]byte{text[:at[0]], sum, text[at[1]:]}, nil)
	return append(bytes.TrimRight(text, "\n"), []byte(c.fill(checkRubric))...), nil
}

func (c check) method(text []byte) ([]byte, error) {
	text = append(bytes.TrimRight(text, "\n"), []byte(c.fill(checkMethod))...)
	if !bytes.Contains(text, []byte(`"flashlab/attn"`)) {
		text = bytes.Replace(text, []byte("import (\n"), []byte("import (\n\t\"flashlab/attn\"\n"), 1)
	}
	return format.Source(text)
}

// inList adds the operation to the room's list, which is one line.
func (c check) inList(text []byte) ([]byte, error) {
	const list = "var Ops = judge.Ops{"
	at := bytes.Index(text, []byte(list))
	if at < 0 {
		return nil, fmt.Errorf("there is no %q", list)
	}
	at += len(list)
	end := bytes.IndexByte(text[at:], '}')
	return bytes.Join([][]byte{text[:at+end], []byte(", " + c.ID), text[at+end:]}, nil), nil
}

func (c check) inWorker(text []byte) ([]byte, error) {
	const table = "worker.Main(map[string]worker.Op{\n"
	at := bytes.Index(text, []byte(table))
	if at < 0 {
		return nil, fmt.Errorf("there is no %q", strings.TrimSpace(table))
	}
	at += len(table)
	text = bytes.Join([][]byte{text[:at], []byte(c.fill(checkWorker)), text[at:]}, nil)
	if !bytes.Contains(text, []byte(`"flashlab/grader/grading/problem"`)) {
		text = bytes.Replace(text, []byte("import (\n"), []byte("import (\n\t\"flashlab/grader/grading/problem\"\n"), 1)
	}
	return format.Source(text)
}
