package trial

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// Whole is the base that every task has: what needs a set of right files takes this one.
const Whole = "2026"

// Bases is the folder of a task's frozen solutions. The underscore keeps go build away.
func Bases(root, dir string) string { return filepath.Join(root, "grader", "trial", "_bases", dir) }

// bases are the folders of the base's files: the task's own, and those of each task that it uses. A used
// one without a base of this name, for it has not changed since, gives its whole one.
func (s Specimen) bases(root string) (dirs []string) {
	for _, one := range s.Task.All() {
		dir := filepath.Join(Bases(root, one.Dir), s.Base)
		if _, err := os.Stat(dir); err != nil && one.Dir != s.Task.Dir {
			dir = filepath.Join(Bases(root, one.Dir), Whole)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// Made are the specimen's files, those of the tasks that its task uses among them.
func (s Specimen) Made(root string) ([]gate.File, error) {
	var files []gate.File
	dirs := s.bases(root)
	for i, one := range s.Task.All() {
		for _, name := range one.Files {
			data, err := os.ReadFile(filepath.Join(dirs[i], name))
			if err != nil {
				return nil, err
			}
			files = append(files, gate.File{Task: one.Dir, Name: name, Data: data})
		}
	}
	return s.change(files)
}

// change makes the specimen of its base's files.
func (s Specimen) change(base []gate.File) ([]gate.File, error) {
	files := slices.Clone(base)
	find := func(key, name string) (*gate.File, error) {
		i := slices.IndexFunc(files, func(f gate.File) bool { return f.Task+"/"+f.Name == s.path(name) })
		if i < 0 {
			return nil, fmt.Errorf("%s: %s: the base has no file %s", s.Name, key, name)
		}
		return &files[i], nil
	}
	for name, text := range s.Files {
		f, err := find("files", name)
		if err != nil {
			return nil, err
		}
		f.Data = []byte(text)
	}
	for _, e := range s.Edits {
		f, err := find("edit", e.File)
		if err != nil {
			return nil, err
		}
		if n := bytes.Count(f.Data, []byte(e.Find)); n != 1 {
			return nil, fmt.Errorf("%s: edit: %q occurs %d times in the base's %s, want once", s.Name, e.Find, n, e.File)
		}
		f.Data = bytes.Replace(f.Data, []byte(e.Find), []byte(e.Replace), 1)
	}
	for name := range s.Links {
		if _, err := find("links", name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// path is a file's with its task's folder, which the task's own go without.
func (s Specimen) path(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return s.Task.Dir + "/" + name
}

// Write lays the specimen out in dir as a student would hand it in: a folder for each task.
func (s Specimen) Write(root, dir string) error {
	files, err := s.Made(root)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Task, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	for name, to := range s.Links {
		path := filepath.Join(dir, s.path(name))
		if err := os.Remove(path); err != nil {
			return err
		}
		if err := os.Symlink(to, path); err != nil {
			return err
		}
	}
	return nil
}

// Subject is the specimen as a reference solution with a known mistake.
func (s Specimen) Subject(root string) run.Subject {
	r := run.Solution(root, s.Task)
	r.Name, r.Mutant, r.Dirs = "the reference solution, made wrong: "+s.About, s.Name, s.bases(root)
	r.Edit = func(_ *rubric.Task, files []gate.File) ([]gate.File, error) { return s.change(files) }
	return r
}
