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

// Made are the specimen's files, those of the tasks that its task uses among them.
func (s Specimen) Made(root string) ([]gate.File, error) {
	bases, err := s.Bases(root)
	if err != nil {
		return nil, err
	}
	var files []gate.File
	for _, b := range bases {
		of, err := b.Files(root)
		if err != nil {
			return nil, err
		}
		files = append(files, of...)
	}
	return s.Change(files)
}

// Change makes the specimen of its base's files.
func (s Specimen) Change(base []gate.File) ([]gate.File, error) {
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
	r.Name, r.Mutant = "the reference solution, made wrong: "+s.About, s.Name
	r.Edit = func(*rubric.Task, []gate.File) ([]gate.File, error) { return s.Made(root) }
	return r
}
