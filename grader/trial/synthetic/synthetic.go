// Package synthetic makes a class of invented submissions whose verdicts are known: solutions,
// stubs, mutants, odd but honest work, hand-ins that do not compile or never end, and archives that
// cannot be read. Tests try batches on it, and so can anybody who sets up a course.
package synthetic

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/grader/trial"
)

// Fate is what a task of a submission must come to.
type Fate string

// The verdicts.
const (
	Full    Fate = "full"    // all points that can be measured
	Less    Fate = "less"    // points lost, be it all of them
	None    Fate = "none"    // no points, though it ran
	Refused Fate = "refused" // nothing of it ran
	Unread  Fate = "unread"  // the archive was not read
	Held    Fate = "held"    // it awaits a person
	Lost    Fate = "lost"    // less, none or refused: expected only
	Any     Fate = "any"     // whatever the same would get without the trick: expected only
)

// Student is one submission of the class.
type Student struct {
	ID   string
	Kind string // "mutant no_scale of task 1"
	Want map[registry.Name]Fate
}

// maker is one kind of submission: it changes a set of solutions in one task.
type maker struct {
	name  string
	make  func(c *class, files map[string][]byte, t *rubric.Task, n int) (kind string, want Fate, err error)
	spoil func(packed []byte) (name string, data []byte) // the archive, instead
}

// class is one being made.
type class struct {
	root  string
	tasks []*rubric.Task
}

// makers in the order in which they take turns.
func makers() []maker {
	return []maker{
		{name: "solution", make: solution},
		{name: "mutant", make: specimen(trial.Mutants, 1)},
		{name: "stub", make: stub},
		{name: "mutant", make: specimen(trial.Mutants, 1)},
		{name: "honest", make: honest},
		{name: "does not compile", make: uncompilable},
		{name: "mutant", make: specimen(trial.Mutants, 1)},
		{name: "cut zip", spoil: cut},
		{name: "solution", make: solution},
		{name: "endless", make: endless},
		{name: "zip that leads out", spoil: slip},
		{name: "forbidden import", make: forbidden},
		{name: "exploit", make: specimen(trial.Exploits, 7)},
		{name: "honest", make: specimen(trial.Honest, 7)},
		{name: "exploit", make: specimen(trial.Exploits, 7)},
		{name: "exploit", make: specimen(trial.Exploits, 7)},
	}
}

// Write makes n submissions of the tasks in dir/submissions, with dir/course.toml, dir/roster.csv
// and dir/expected.csv beside.
func Write(dir, root string, tasks []*rubric.Task, n int) ([]Student, error) {
	c := &class{root, tasks}
	into := filepath.Join(dir, "submissions")
	if err := os.MkdirAll(into, 0o755); err != nil {
		return nil, err
	}
	var students []Student
	all := makers()
	for i := range n {
		s, err := c.student(into, i, all[i%len(all)])
		if err != nil {
			return nil, err
		}
		students = append(students, s)
	}
	return students, c.tables(dir, students)
}

// student makes the i-th submission.
func (c *class) student(into string, i int, m maker) (Student, error) {
	s := Student{ID: fmt.Sprintf("s%03d", i+1), Kind: m.name, Want: map[registry.Name]Fate{}}
	files, err := c.solutions()
	if err != nil {
		return s, err
	}
	for _, t := range c.tasks {
		s.Want[t.Name] = Full
	}
	if m.spoil != nil {
		for _, t := range c.tasks {
			s.Want[t.Name] = Unread
		}
		data, err := zipped(files, "")
		if err != nil {
			return s, err
		}
		name, data := m.spoil(data)
		return s, os.WriteFile(filepath.Join(into, s.ID+name), data, 0o644)
	}
	t := c.tasks[(i+i/len(makers()))%len(c.tasks)] // each kind comes to each task
	kind, want, err := m.make(c, files, t, i)
	if err != nil {
		return s, err
	}
	if kind == "" { // the task has none of this kind
		kind, want = "solution", Full
	}
	s.Kind, s.Want[t.Name] = fmt.Sprintf("%s of task %s", kind, t.Name), want
	return s, pack(into, s.ID, files, i)
}

// solutions are the right files of all tasks.
func (c *class) solutions() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, t := range c.tasks {
		made, err := trial.Specimen{Task: t, Base: trial.Whole}.Made(c.root)
		if err != nil {
			return nil, err
		}
		for _, f := range made {
			files[path.Join(f.Task, f.Name)] = f.Data
		}
	}
	return files, nil
}

// tables writes what an instructor would have next to the submissions.
func (c *class) tables(dir string, students []Student) error {
	var roster, expected bytes.Buffer
	r, e := csv.NewWriter(&roster), csv.NewWriter(&expected)
	_ = r.Write([]string{"id", "name", "email"})
	_ = e.Write([]string{"student", "kind", "task", "verdict"})
	for _, s := range students {
		_ = r.Write([]string{s.ID, "Student " + s.ID[1:], s.ID + "@example.org"})
		for _, n := range slices.Sorted(maps.Keys(s.Want)) {
			_ = e.Write([]string{s.ID, s.Kind, string(n), string(s.Want[n])})
		}
	}
	r.Flush()
	e.Flush()
	var names []string
	for _, t := range c.tasks {
		names = append(names, strconv.Quote(string(t.Name)))
	}
	course := "title = \"Synthetic class\"\nseed  = \"synthetic\"\ntasks = " + "[" + strings.Join(names, ", ") + "]" + "\n"
	for name, data := range map[string][]byte{"roster.csv": roster.Bytes(), "expected.csv": expected.Bytes(), "course.toml": []byte(course)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
