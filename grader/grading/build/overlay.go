// Package build makes the worker that holds a submission. The submission's
// files replace the task's own through `go build -overlay`; everything else
// comes from the grader's tree.
package build

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
	"flashlab/internal/glob"
)

// Overlay maps files of the tree to their replacements; "" hides a file.
type Overlay map[string]string

// WriteFile writes the overlay as `go build -overlay` reads it.
func (o Overlay) WriteFile(name string) error {
	data, err := json.MarshalIndent(map[string]Overlay{"Replace": o}, "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(name, append(data, '\n'), 0o644)
}

// within is the same overlay on a copy of the tree.
func (o Overlay) within(root, copied string) Overlay {
	moved := Overlay{}
	for name, by := range o {
		if rel, err := filepath.Rel(root, name); err == nil {
			name = filepath.Join(copied, rel)
		}
		moved[name] = by
	}
	return moved
}

// Solutions puts every task's solution over its stub, so that the public tests
// run against it, and a solution's own tests beside them.
func Solutions(root string, tasks []*rubric.Task) (Overlay, error) {
	o := Overlay{}
	for _, t := range tasks {
		for _, f := range t.Files {
			solution := filepath.Join(root, t.Solution(), f)
			if _, err := os.Stat(solution); err != nil {
				return nil, fmt.Errorf("the solution of task %s lacks a file: %w", t.Name, err)
			}
			o[filepath.Join(root, t.Dir, f)] = solution
		}
		tests, err := glob.In(filepath.Join(root, t.Solution()), "*_test.go")
		if err != nil {
			return nil, err
		}
		for _, own := range tests {
			name := filepath.Join(root, t.Dir, filepath.Base(own))
			if _, err := os.Stat(name); err == nil {
				return nil, fmt.Errorf("%s and %s: a solution's test needs a name of its own", own, name)
			}
			o[name] = own
		}
	}
	return o, nil
}

// Submission copies the checked files to dir and puts the copies over the
// task's own, and over those of the tasks that it uses. Solutions are hidden,
// and so are all files of these tasks' folders that belong neither to the
// course nor to the submission; extra names them.
func Submission(root string, t *rubric.Task, files []gate.File, dir string) (o Overlay, extra []string, err error) {
	o = Overlay{}
	for _, f := range files {
		if !f.Ladder && !slices.ContainsFunc(t.All(), func(one *rubric.Task) bool { return one.Dir == f.Task && slices.Contains(one.Files, f.Name) }) {
			return nil, nil, fmt.Errorf("%s of %q is not among the files that %s permits", f.Name, f.Task, t.Dir)
		}
		copied := filepath.Join(dir, f.Task, f.Name)
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(copied, f.Data, 0o644); err != nil {
			return nil, nil, err
		}
		o[filepath.Join(root, f.Task, f.Name)] = copied
	}
	for _, one := range registry.All {
		for _, in := range []string{"solution", path.Join(rubric.VariantDir("", "*"), "solution")} {
			solutions, err := glob.In(filepath.Join(root, one.Dir), path.Join(in, "*.go"))
			if err != nil {
				return nil, nil, err
			}
			for _, f := range solutions {
				o[f] = ""
			}
		}
	}
	for _, one := range t.All() {
		left, err := leftOut(root, one)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range left {
			o[filepath.Join(root, name)] = ""
		}
		extra = append(extra, left...)
	}
	return o, extra, nil
}

// leftOut lists files in a task's folder that a build would take, but that do not
// belong to the task.
func leftOut(root string, t *rubric.Task) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(root, t.Dir))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && built(name) && !slices.Contains(t.Files, name) && !slices.Contains(t.Provided, name) {
			names = append(names, filepath.Join(t.Dir, name))
		}
	}
	return names, nil
}

// built tells whether `go build` would take a file of this name.
func built(name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return false
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".go", ".s", ".sx", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".for", ".f90", ".syso", ".swig", ".swigcxx":
		return true
	}
	return false
}
