package instructor

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/folder"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/command"
	"flashlab/grader/grading/rubric"
)

// define adds the flags that say where a class's tables are.
func define(c *folder.Folder, f *flag.FlagSet) {
	f.StringVar(&c.Course, "course", "", "`course.toml`: deadlines, late days, the class seed; roster.csv, extensions.csv, overrides.csv, manual.csv, regrades.csv, times.csv, canvas.csv and moodle.csv are looked for beside it")
	f.StringVar(&c.Roster, "roster", "", "`roster.csv`: columns id, name, email, and other names of a student")
	f.Var(folders{&c.Past}, "past", "`folder` of an earlier year's submissions, to compare with; may be given again")
	f.StringVar(&c.Moodle, "moodle", "", "`worksheet.csv` of Moodle's assignment, to be filled")
	f.StringVar(&c.Canvas, "canvas", "", "`export.csv` of Canvas's gradebook, to be filled")
}

// ofBatch is a command that wants the folder of one batch.
func ofBatch(name, summary string, do func(c folder.Folder) (int, error)) command.Command {
	return command.Command{Name: name, Summary: summary, Usage: "OUT", Args: command.Places, Define: func(f *flag.FlagSet) command.Run {
		var c folder.Folder
		define(&c, f)
		return func(places []string) (int, error) {
			if len(places) != 1 {
				return command.Failed, fmt.Errorf("%s: want the folder of a batch: %s OUT", name, name)
			}
			c.Out = places[0]
			return do(c)
		}
	}}
}

// opened is a class that is read.
type opened struct {
	root     string
	all      []*rubric.Task // that the tree has
	settings batch.Settings // what the batch's folder remembers
	class    gradebook.Class
}

// open reads the batch's folder, course.toml and the tables.
func open(c *folder.Folder) (o opened, err error) {
	if o.root, o.all, o.settings, err = c.Open(); err != nil {
		return o, err
	}
	o.class, err = c.Class(o.all, o.settings)
	return o, err
}

// folders are a flag's values, given several times or separated by commas.
type folders struct{ to *[]string }

func (f folders) String() string { return "" }

func (f folders) Set(s string) error {
	for _, one := range strings.Split(s, ",") {
		if info, err := os.Stat(one); err != nil || !info.IsDir() {
			return fmt.Errorf("%s: there is no such folder", one)
		}
		at, err := filepath.Abs(one)
		if err != nil {
			return err
		}
		*f.to = append(*f.to, at)
	}
	return nil
}
