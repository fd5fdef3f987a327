package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
)

// Subject is what is graded: a folder's files, maybe edited.
type Subject struct {
	Name       string   // "your files", "the reference solution", "the mutant …"
	Dirs       []string // of the task's files, and of those of each task that it uses
	Submission string   // the folder as the user named it
	Solution   bool
	Version    string // an earlier version of the solution
	Mutant     string // a known mistake in the solution, by its name
	// Edit makes the mistake, in files that have passed the gate; nil for none.
	Edit   func(t *rubric.Task, files []gate.File) ([]gate.File, error)
	Author bool // messages name files as their author has them: task2_unfused/kernels.cu
}

// Submission is a student's files: the task's own folder, or another.
func Submission(root string, t *rubric.Task, dir string) Subject {
	if dir == "" {
		var names []string
		for _, one := range t.All() {
			if len(one.Files) > 0 {
				names = append(names, one.Dir)
			}
		}
		return Subject{Name: "your files in " + strings.Join(names, ", "), Dirs: under(t, func(one *rubric.Task) string { return filepath.Join(root, one.Dir) })}
	}
	return Subject{Name: "the files in " + dir, Submission: dir, Dirs: under(t, func(one *rubric.Task) string {
		inside := filepath.Join(dir, one.Dir)
		if info, err := os.Stat(inside); one.Dir != t.Dir || err == nil && info.IsDir() {
			return inside
		}
		return dir // the task's own files may be there as they are
	})}
}

// HandedIn is a student's files in a folder of the grader's own, which holds their task
// folders. Messages are for the student.
func HandedIn(t *rubric.Task, dir string) Subject {
	return Subject{Name: "your files", Author: true, Dirs: under(t, func(one *rubric.Task) string { return filepath.Join(dir, one.Dir) })}
}

// under tells where the files of the task, and of those that it uses, are.
func under(t *rubric.Task, where func(one *rubric.Task) string) (dirs []string) {
	for _, one := range t.All() {
		dirs = append(dirs, where(one))
	}
	return dirs
}

// Solution is the reference solution.
func Solution(root string, t *rubric.Task) Subject {
	return Subject{Name: "the reference solution", Solution: true,
		Dirs: under(t, func(one *rubric.Task) string { return filepath.Join(root, one.Solution()) })}
}

// Version is an earlier version of the reference solution.
func Version(root string, t *rubric.Task, name string) Subject {
	s := Solution(root, t)
	s.Name, s.Version = "the reference solution, "+build.VersionTitle(name), name
	return s
}

// filesOf is what may be handed in of a task, or of one that it uses.
func filesOf(t *rubric.Task, dir string) []string {
	for _, one := range t.All() {
		if one.Dir == dir {
			return one.Files
		}
	}
	return nil
}

// files reads the subject's files through the gate; a mutant's pass it a second
// time.
func (o Options) files() ([]gate.File, error) {
	var files []gate.File
	var refused []gate.Refusal
	for i, one := range o.Task.All() {
		author := ""
		if o.Subject.Author {
			author = one.Dir
		}
		read, err := rulesOf(one).ReadAs(o.Subject.Dirs[i], author, one.Package, one.Files)
		var e *gate.Error
		if errors.As(err, &e) {
			refused = append(refused, e.Refusals...)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, f := range read {
			f.Task = one.Dir
			files = append(files, f)
		}
	}
	if o.Subject.Version != "" && len(refused) == 0 {
		older, err := build.Version(o.Root, o.Task, o.Subject.Version, files)
		if err != nil {
			return nil, err
		}
		files = older
	}
	if edit := o.Subject.Edit; edit != nil && len(refused) == 0 {
		edited, err := edit(o.Task, files)
		if err != nil {
			return nil, err
		}
		files = edited
		for _, one := range o.Task.All() {
			own := slices.DeleteFunc(slices.Clone(files), func(f gate.File) bool { return f.Task != one.Dir })
			for _, f := range own {
				refused = append(refused, rulesOf(one).Check(f, one.Package)...)
			}
			refused = append(refused, rulesOf(one).CheckIncludes(own)...)
		}
	}
	if len(refused) > 0 {
		return nil, &gate.Error{Refusals: refused}
	}
	return files, nil
}
