package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/trial/synthetic"
	"flashlab/internal/repo"
)

// classCommand makes a class to try a batch on.
func classCommand(args []string) (int, error) {
	f := flag.NewFlagSet("class", flag.ContinueOnError)
	n := f.Int("n", 60, "how many submissions")
	check := f.String("check", "", "compare what a batch wrote to this `folder` with what is expected of the class")
	only := f.String("tasks", "1,2,3,4", "of these tasks")
	places, err := parsePlaces(f, args)
	if err != nil {
		return exitFailed, err
	}
	if len(places) != 1 {
		return exitFailed, errors.New("class: want a new folder: class FOLDER")
	}
	dir := places[0]
	if *check != "" {
		return checkClass(dir, *check)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return exitFailed, fmt.Errorf("class: %s is not empty", dir)
	}
	root, err := repo.Root()
	if err != nil {
		return exitFailed, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return exitFailed, err
	}
	picked, err := named(*only, all)
	if err != nil {
		return exitFailed, err
	}
	var tasks []*rubric.Task
	for _, n := range picked {
		t, err := rubric.Find(all, string(n))
		if err != nil {
			return exitFailed, err
		}
		tasks = append(tasks, t...)
	}
	students, err := synthetic.Write(dir, root, tasks, *n)
	if err != nil {
		return exitFailed, err
	}
	fmt.Printf("Written: %d submissions in %s, with course.toml, roster.csv and expected.csv beside.\n", len(students), filepath.Join(dir, "submissions"))
	return exitFull, nil
}

// checkClass tells whether every verdict of a batch is as expected.
func checkClass(dir, out string) (int, error) {
	records, err := record.ReadAll(out)
	if err != nil {
		return exitFailed, err
	}
	wrong, n, err := synthetic.Check(dir, records)
	if err != nil {
		return exitFailed, err
	}
	for _, w := range wrong {
		fmt.Println(w)
	}
	fmt.Printf("%d of %d verdicts are as expected.\n", n-len(wrong), n)
	if len(wrong) > 0 {
		return exitLess, nil
	}
	return exitFull, nil
}
