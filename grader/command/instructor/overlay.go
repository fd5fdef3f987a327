package instructor

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/command"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// Overlay writes an overlay that puts the solutions over the stubs.
var Overlay = command.Command{Name: "overlay", Summary: "write the overlay for    go test -overlay=FILE ./...   against the solutions", Usage: "-o FILE",
	Define: func(f *flag.FlagSet) command.Run {
		out := f.String("o", "", "`file` to write: out/solutions.json")
		return func([]string) (int, error) {
			if *out == "" {
				return command.Failed, errors.New("overlay: -o FILE is missing")
			}
			return overlay(*out)
		}
	}}

func overlay(out string) (int, error) {
	root, err := repo.Root()
	if err != nil {
		return command.Failed, err
	}
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return command.Failed, err
	}
	if tasks, err = rubric.WithWarmUp(root, tasks); err != nil {
		return command.Failed, err
	}
	o, err := build.Solutions(root, tasks)
	if err != nil {
		return command.Failed, err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return command.Failed, fmt.Errorf("overlay: %w", err)
	}
	return command.Full, o.WriteFile(out)
}
