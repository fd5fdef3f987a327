package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/rubric"
	"flashlab/grader/synthetic"
	"flashlab/internal/cache"
)

// classCommand makes a class to try a batch on.
func classCommand(args []string) (int, error) {
	f := flag.NewFlagSet("class", flag.ContinueOnError)
	n := f.Int("n", 60, "how many submissions")
	only := f.String("tasks", "1,2,3,4", "of these tasks")
	places, err := parsePlaces(f, args)
	if err != nil {
		return exitFailed, err
	}
	if len(places) != 1 {
		return exitFailed, errors.New("class: want a new folder: class FOLDER")
	}
	dir := places[0]
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return exitFailed, fmt.Errorf("class: %s is not empty", dir)
	}
	root, err := cache.Root()
	if err != nil {
		return exitFailed, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return exitFailed, err
	}
	picked, err := numbers(*only, all)
	if err != nil {
		return exitFailed, err
	}
	var tasks []*rubric.Task
	for _, n := range picked {
		t, err := rubric.Find(all, fmt.Sprint(n))
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
