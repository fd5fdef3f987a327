// Package folder is a batch's folder and the class's tables: what each command on a class reads and
// writes.
package folder

import (
	"os"
	"path/filepath"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/course"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// Folder says where they are.
type Folder struct {
	Out            string   // the batch's
	Course, Roster string   // files; "" for what the batch remembers
	Canvas, Moodle string   // too: exports that are filled
	Past           []string // folders of earlier years
}

// Open finds the tree, and what the output folder remembers.
func (f *Folder) Open() (root string, all []*rubric.Task, s batch.Settings, err error) {
	if root, err = repo.Root(); err != nil {
		return
	}
	if all, err = rubric.LoadAll(root); err != nil {
		return
	}
	if s, err = batch.LoadSettings(f.Out); err != nil {
		return
	}
	if len(f.Past) > 0 {
		s.Past = f.Past
	}
	for _, p := range []struct{ given, kept *string }{{&f.Course, &s.Course}, {&f.Roster, &s.Roster}, {&f.Canvas, &s.Canvas}, {&f.Moodle, &s.Moodle}} {
		if *p.given == "" {
			*p.given = *p.kept
			continue
		}
		if *p.given, err = filepath.Abs(*p.given); err != nil {
			return
		}
		*p.kept = *p.given
	}
	return
}

// Class reads course.toml and the tables beside it. The tasks get the class's own hidden cases.
func (f *Folder) Class(all []*rubric.Task, s batch.Settings) (gradebook.Class, error) {
	class := gradebook.Class{Rubrics: all, Course: course.Default()}
	var err error
	if f.Course != "" {
		var have []registry.Name
		for _, t := range all {
			have = append(have, t.Name)
		}
		if class.Course, err = course.Load(f.Course, have); err != nil {
			return class, err
		}
		f.Roster = beside(f.Course, f.Roster, "roster.csv")
		f.Canvas = beside(f.Course, f.Canvas, "canvas.csv")
		f.Moodle = beside(f.Course, f.Moodle, "moodle.csv")
	}
	if class.Course.Seed == "" {
		class.Course.Seed = s.Seed
	}
	for _, t := range all {
		t.Draw(class.Course.Seed)
	}
	switch {
	case f.Roster != "":
		class.Roster, err = intake.ReadRoster(f.Roster)
	case f.Canvas != "":
		class.Roster, err = gradebook.CanvasRoster(f.Canvas)
	case f.Moodle != "":
		class.Roster, err = gradebook.MoodleRoster(f.Moodle)
	}
	if err == nil && f.Course != "" {
		class.Tables, err = gradebook.ReadTables(filepath.Dir(f.Course), class.Course, class.Roster)
	}
	return class, err
}

// beside is a table beside course.toml, where none was named and there is one.
func beside(course, given, name string) string {
	if path := filepath.Join(filepath.Dir(course), name); given == "" {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return given
}
