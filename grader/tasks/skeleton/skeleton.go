// Package skeleton writes the beginnings of a task, and of a check: what compiles, and gets no
// points until someone has programmed it. It is for those who change the course.
package skeleton

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
)

//go:embed task room
var templates embed.FS

// task is what the templates are filled with.
type task struct {
	registry.Task
	Title   string
	Package string // halves
	Type    string // Halves
	Op      string // b2_square
	Room    string // the package: b2
}

// Lower is the title as it stands within a sentence.
func (t task) Lower() string { return strings.ToLower(t.Title[:1]) + t.Title[1:] }

var nameForm = regexp.MustCompile(`^([a-z]?[0-9]+)_([a-z][a-z0-9]*)$`)

// of takes "8_halves" or "b2_halves" apart: a letter in front makes a bonus task.
func of(name, title string) (task, error) {
	m := nameForm.FindStringSubmatch(name)
	if m == nil {
		return task{}, fmt.Errorf("the name %q: want a number, or a letter and a number, and a word: 8_halves or b2_halves", name)
	}
	t := task{Title: title, Package: m[2], Type: strings.ToUpper(m[2][:1]) + m[2][1:]}
	t.Name = registry.Name(m[1])
	if t.Title == "" {
		t.Title = t.Type
	}
	t.Dir = "task" + name
	if m[1][0] >= 'a' {
		t.Dir = "bonus/" + name
	}
	t.Room = filepath.Base(t.Task.Room())
	t.Op = t.Room + "_square"
	for _, other := range registry.All {
		if other.Name == t.Name || other.Dir == t.Dir {
			return t, fmt.Errorf("there is a task %s already (%s)", other.Name, other.Dir)
		}
	}
	return t, nil
}

// files are the templates of a task, and where they go.
func (t task) files() map[string]string {
	dir, room := t.Dir, t.Task.Room()
	return map[string]string{
		"task/README.md.tmpl":            dir + "/README.md",
		"task/rubric.toml.tmpl":          dir + "/rubric.toml",
		"task/source.go.tmpl":            dir + "/source.go",
		"task/texts.go.tmpl":             dir + "/texts.go",
		"task/stub.go.tmpl":              dir + "/" + t.Package + ".go",
		"task/kernels.cu.tmpl":           dir + "/kernels.cu",
		"task/public_test.go.tmpl":       dir + "/" + t.Package + "_test.go",
		"task/solution/README.md.tmpl":   dir + "/solution/README.md",
		"task/solution/solution.go.tmpl": dir + "/solution/" + t.Package + ".go",
		"task/solution/kernels.cu.tmpl":  dir + "/solution/kernels.cu",
		"room/ops.go.tmpl":               room + "/ops.go",
		"room/ops_test.go.tmpl":          room + "/ops_test.go",
		"room/worker.go.tmpl":            room + "/worker/main.go",
	}
}

// New writes a task's two folders and its line in the registry, makes from them what else lists tasks, and returns
// the names of what it wrote. Nothing that is there already is touched.
func New(root, name, title string) ([]string, error) {
	t, err := of(name, title)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for from, to := range t.files() {
		if texts[to], err = t.fill(from); err != nil {
			return nil, err
		}
	}
	for to := range texts {
		if _, err := os.Stat(filepath.Join(root, to)); err == nil {
			return nil, fmt.Errorf("%s is there already", to)
		}
	}
	if texts[registryFile], err = registered(root, t.Task); err != nil {
		return nil, err
	}
	names, err := write(root, texts)
	if err != nil {
		return nil, err
	}
	lists, err := t.lists(root)
	if err != nil {
		return nil, fmt.Errorf("%w\nthe task's own files are there, the lists of tasks are not: mend that, take back what was written (git clean and git checkout of %s, its room and %s), and try again", err, t.Dir, registryFile)
	}
	more, err := write(root, lists)
	return append(names, more...), err
}

// fill makes a file of its template.
func (t task) fill(name string) ([]byte, error) {
	parsed, err := template.ParseFS(templates, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, t); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(name, ".go.tmpl") {
		return b.Bytes(), nil
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// write puts texts into files below root, and names them.
func write(root string, texts map[string][]byte) (names []string, err error) {
	for name, text := range texts {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		if err := cache.WriteFile(file, text, 0o644); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}
