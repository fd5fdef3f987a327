package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/course"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// classFlags say where a class's tables are.
type classFlags struct {
	out, course, roster, canvas string
	past                        []string // folders of earlier years
}

func (c *classFlags) register(f *flag.FlagSet) {
	f.StringVar(&c.course, "course", "", "`course.toml`: deadlines, late days, the class seed; roster.csv, extensions.csv, overrides.csv, manual.csv, times.csv and canvas.csv are looked for beside it")
	f.StringVar(&c.roster, "roster", "", "`roster.csv`: columns id, name, email, and other names of a student")
	f.Var(folders{&c.past}, "past", "`folder` of an earlier year's submissions, to compare with; may be given again")
	f.StringVar(&c.canvas, "canvas", "", "`export.csv` of Canvas's gradebook, to be filled")
}

// open finds the tree, and what the output folder remembers.
func (c *classFlags) open() (root string, all []*rubric.Task, s batch.Settings, err error) {
	if root, err = repo.Root(); err != nil {
		return
	}
	if all, err = rubric.LoadAll(root); err != nil {
		return
	}
	if s, err = batch.LoadSettings(c.out); err != nil {
		return
	}
	if len(c.past) > 0 {
		s.Past = c.past
	}
	for _, p := range []struct{ given, kept *string }{{&c.course, &s.Course}, {&c.roster, &s.Roster}, {&c.canvas, &s.Canvas}} {
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

// ofBatch reads a command's flags and the one folder that it wants, a batch's, with what it remembers.
func (c *classFlags) ofBatch(command string, args []string) (class gradebook.Class, s batch.Settings, err error) {
	f := flag.NewFlagSet(command, flag.ContinueOnError)
	c.register(f)
	places, err := parsePlaces(f, args)
	if err != nil {
		return class, s, err
	}
	if len(places) != 1 {
		return class, s, fmt.Errorf("%s: want the folder of a batch: %s OUT", command, command)
	}
	c.out = places[0]
	_, all, s, err := c.open()
	if err != nil {
		return class, s, err
	}
	class, err = c.class(all, s)
	return class, s, err
}

// class reads course.toml and the tables beside it.
func (c *classFlags) class(all []*rubric.Task, s batch.Settings) (gradebook.Class, error) {
	class := gradebook.Class{Rubrics: all, Course: course.Default()}
	var err error
	if c.course != "" {
		var have []registry.Name
		for _, t := range all {
			have = append(have, t.Name)
		}
		if class.Course, err = course.Load(c.course, have); err != nil {
			return class, err
		}
		c.roster = beside(c.course, c.roster, "roster.csv")
		c.canvas = beside(c.course, c.canvas, "canvas.csv")
	}
	if class.Course.Seed == "" {
		class.Course.Seed = s.Seed
	}
	switch {
	case c.roster != "":
		class.Roster, err = intake.ReadRoster(c.roster)
	case c.canvas != "":
		class.Roster, err = gradebook.CanvasRoster(c.canvas)
	}
	if err == nil && c.course != "" {
		class.Tables, err = gradebook.ReadTables(filepath.Dir(c.course), class.Course, class.Roster)
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

// write makes the grades of the records.
func (c classFlags) write(class gradebook.Class) (int, error) {
	var err error
	if class.Records, err = record.ReadAll(c.out); err != nil {
		return exitFailed, err
	}
	entries, notes, err := class.Write(c.out, c.canvas)
	if err != nil {
		return exitFailed, err
	}
	for _, n := range notes {
		fmt.Println("note:", n)
	}
	held := 0
	for _, e := range entries {
		if e.Awaiting > 0 {
			held++
		}
	}
	if held > 0 {
		fmt.Printf("%d students have points that await a person.\n", held)
	}
	fmt.Printf("Written: %s, and feedback in %s\n", filepath.Join(c.out, "gradebook.csv"), filepath.Join(c.out, "students"))
	if err := c.pages(class, entries); err != nil {
		return exitFailed, err
	}
	return exitFull, nil
}
