package instructor

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/command"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// Overlay writes an overlay that puts the solutions, or a version of one, over the stubs.
var Overlay = command.Command{Name: "overlay", Summary: "write the overlay for    go test -overlay=FILE ./...   against the solutions", Usage: "[-task 4 -version 4_quads | -versions] [-o FILE]", Group: command.Course,
	Define: func(f *flag.FlagSet) command.Run {
		out := f.String("o", "out/solutions.json", "`file` to write")
		task := f.String("task", "", "with -version: its task, `4`")
		version := f.String("version", "", "an earlier version of a task's solution by its `name`; its files are written beside the overlay")
		versions := f.Bool("versions", false, "the files of all versions, whole, into the folder that -o names")
		return func([]string) (int, error) {
			switch {
			case *versions && *out == "out/solutions.json":
				return command.Failed, errors.New("overlay: -versions wants -o FOLDER")
			case (*task == "") != (*version == "") || *versions && *version != "":
				return command.Failed, errors.New("overlay: -task and -version belong together, and -versions is all of them")
			}
			return overlay(*out, *task, *version, *versions)
		}
	}}

func overlay(out, task, version string, versions bool) (int, error) {
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
	if out, err = filepath.Abs(out); err != nil {
		return command.Failed, err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return command.Failed, fmt.Errorf("overlay: %w", err)
	}
	var o build.Overlay
	switch {
	case versions:
		return written(build.WriteVersions(root, tasks, out))
	case version != "":
		at := slices.IndexFunc(tasks, func(t *rubric.Task) bool { return string(t.Name) == task })
		if at < 0 {
			return command.Failed, fmt.Errorf("overlay: there is no task %s", task)
		}
		o, err = build.VersionOverlay(root, tasks[at], version, strings.TrimSuffix(out, filepath.Ext(out)))
	default:
		o, err = build.Solutions(root, tasks)
	}
	if err != nil {
		return command.Failed, err
	}
	return written(o.WriteFile(out))
}

func written(err error) (int, error) {
	if err != nil {
		return command.Failed, fmt.Errorf("overlay: %w", err)
	}
	return command.Full, nil
}
