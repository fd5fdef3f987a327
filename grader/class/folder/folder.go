// Package folder is a batch's folder and the class's tables: what each command on a class reads and
// writes.
package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	all, err = Rubrics(root, f.Course)
	return
}

// Rubrics are those of all tasks, as the variant has them that course.toml chooses; "" is no course.toml. They have the
// checks that have points: a class is graded on no other.
func Rubrics(root, file string) (all []*rubric.Task, err error) {
	year, err := Year(root, file)
	if err != nil {
		return nil, err
	}
	if all, err = rubric.LoadVariant(root, year.Variant); err != nil {
		return nil, err
	}
	for i, t := range all {
		all[i] = t.Scored()
	}
	return all, nil
}

// Released is what course.toml says of a release.
type Released struct {
	Variant string  // the one that it chooses; "" for none
	Agents  *string // the text for AI assistants: "" for none, nil for the course's own
}

// Year reads what course.toml says of a release.
func Year(root, file string) (y Released, err error) {
	if file == "" {
		return y, nil
	}
	plain, err := rubric.LoadAll(root)
	if err != nil {
		return y, err
	}
	c, err := load(root, file, plain)
	if err != nil {
		return y, err
	}
	y.Variant = c.Variant
	switch c.Agents {
	case "":
	case course.NoAgents:
		y.Agents = new(string)
	default:
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), c.Agents))
		if err != nil {
			return y, fmt.Errorf("%s: agents = %q: %w", file, c.Agents, err)
		}
		if strings.TrimSpace(string(text)) == "" {
			return y, fmt.Errorf("%s: agents = %q: the page is empty; agents = %q leaves it out", file, c.Agents, course.NoAgents)
		}
		own := string(text)
		y.Agents = &own
	}
	return y, nil
}

// load reads course.toml.
func load(root, file string, all []*rubric.Task) (*course.Course, error) {
	var have []registry.Name
	for _, t := range all {
		have = append(have, t.Name)
	}
	variants, err := rubric.Variants(root)
	if err != nil {
		return nil, err
	}
	return course.Load(file, have, variants...)
}

// Class reads course.toml and the tables beside it. The tasks get the class's own hidden cases.
func (f *Folder) Class(all []*rubric.Task, s batch.Settings) (gradebook.Class, error) {
	class := gradebook.Class{Rubrics: all, Course: course.Default()}
	var err error
	if f.Course != "" {
		root, err := repo.Root()
		if err != nil {
			return class, err
		}
		if class.Course, err = load(root, f.Course, all); err != nil {
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
		class.Tables, err = gradebook.ReadTables(filepath.Dir(f.Course), class.Course, class.Roster, all)
	}
	if err == nil && f.Moodle != "" {
		class.Tables.Moodle, class.Tables.Unread, err = gradebook.MoodleTimes(f.Moodle, class.Course)
	}
	if err == nil {
		class.Tables.Accepted, err = readAccepted(f.Out)
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
