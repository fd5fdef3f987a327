package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// overlayCommand writes an overlay that puts the solutions over the stubs.
func overlayCommand(args []string) (int, error) {
	f := flag.NewFlagSet("overlay", flag.ContinueOnError)
	out := f.String("o", "", "`file` to write: out/solutions.json")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	if *out == "" {
		return exitFailed, errors.New("overlay: -o FILE is missing")
	}
	root, err := repo.Root()
	if err != nil {
		return exitFailed, err
	}
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return exitFailed, err
	}
	o, err := build.Solutions(root, tasks)
	if err != nil {
		return exitFailed, err
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		return exitFailed, fmt.Errorf("overlay: %w", err)
	}
	return exitFull, o.WriteFile(*out)
}
