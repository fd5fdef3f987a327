package instructor

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/class/record"
	"flashlab/grader/command"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/trial/synthetic"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Class makes a class to try a batch on.
var Class = command.Command{Name: "class", Summary: "make a class of invented submissions, to try a batch on", Usage: "FOLDER [N=60]", Args: command.Places,
	Define: func(f *flag.FlagSet) command.Run {
		n := f.Int("n", 60, "how many submissions")
		check := f.String("check", "", "compare what a batch wrote to this `folder` with what is expected of the class")
		only := f.String("tasks", "1,2,3,4", "of these tasks")
		return func(places []string) (int, error) {
			if len(places) != 1 {
				return command.Failed, errors.New("class: want a new folder: class FOLDER")
			}
			if *check != "" {
				return checkClass(places[0], *check)
			}
			return makeClass(places[0], *only, *n)
		}
	}}

func makeClass(dir, only string, n int) (int, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return command.Failed, fmt.Errorf("class: %s is not empty", dir)
	}
	root, err := repo.Root()
	if err != nil {
		return command.Failed, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return command.Failed, err
	}
	picked, err := named(only, all)
	if err != nil {
		return command.Failed, err
	}
	var tasks []*rubric.Task
	for _, name := range picked {
		t, err := rubric.Find(all, string(name))
		if err != nil {
			return command.Failed, err
		}
		tasks = append(tasks, t...)
	}
	students, err := synthetic.Write(dir, root, tasks, n)
	if err != nil {
		return command.Failed, err
	}
	harmless.Printf("Written: %s in %s, with course.toml, roster.csv and expected.csv beside.\n", record.Plural(len(students), "submission"), filepath.Join(dir, "submissions"))
	return command.Full, nil
}

// checkClass tells whether every verdict of a batch is as expected.
func checkClass(dir, out string) (int, error) {
	records, err := record.ReadAll(out)
	if err != nil {
		return command.Failed, err
	}
	wrong, n, err := synthetic.Check(dir, records)
	if err != nil {
		return command.Failed, err
	}
	for _, w := range wrong {
		harmless.Println(w)
	}
	harmless.Printf("%d of %d verdicts are as expected.\n", n-len(wrong), n)
	if len(wrong) > 0 {
		return command.Less, nil
	}
	return command.Full, nil
}
