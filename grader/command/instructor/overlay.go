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
	"flashlab/internal/cache"
	"flashlab/internal/repo"
)

// Overlay writes an overlay that puts the solutions, or a version of one, over the stubs.
var Overlay = command.Command{Name: "overlay", Summary: "write the overlay for    go test -overlay=FILE ./...   against the solutions", Usage: "[TASK=4 VERSION=4_quads | VERSIONS=1] [O=FILE]", Group: command.Course,
	Define: func(f *flag.FlagSet) command.Run {
		out := f.String("o", "out/solutions.json", "`file` to write")
		task := f.String("task", "", "with VERSION: its task, `4`")
		version := f.String("version", "", "an earlier version of a task's solution by its `name`; its files are written beside the overlay")
		versions := f.Bool("versions", false, "the files of all versions, whole, into the folder that O names, and a list of the macros that nvcc needs")
		return func([]string) (int, error) {
			switch {
			case *versions && *out == "out/solutions.json":
				return command.Failed, errors.New("overlay: VERSIONS wants O=FOLDER")
			case (*task == "") != (*version == "") || *versions && *version != "":
				return command.Failed, errors.New("overlay: TASK and VERSION belong together, and VERSIONS is all of them")
			}
			return overlay(*out, *task, *version, *versions)
		}
	}}

func overlay(out, task, version string, versions bool) (int, error) {
	root, tasks, err := allTasks()
	if err != nil {
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
		if err := build.WriteVersions(root, tasks, out); err != nil {
			return written(err)
		}
		return written(cache.WriteFile(filepath.Join(out, "macros"), []byte(macros(tasks)), 0o644))
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

// allTasks are those with points, behind the warm-up.
func allTasks() (root string, tasks []*rubric.Task, err error) {
	if root, err = repo.Root(); err != nil {
		return "", nil, err
	}
	if tasks, err = rubric.LoadAll(root); err != nil {
		return "", nil, err
	}
	tasks, err = rubric.WithWarmUp(root, tasks)
	return root, tasks, err
}

// macros has a line for each pattern of .cu files in a rubric, and what nvcc-check defines for them.
func macros(tasks []*rubric.Task) string {
	var b strings.Builder
	for _, t := range tasks {
		for _, m := range t.NVCC {
			for _, file := range m.Files {
				fmt.Fprintf(&b, "./%s/%s\t%s\n", t.Dir, file, m.Flags())
			}
		}
	}
	return b.String()
}

func written(err error) (int, error) {
	if err != nil {
		return command.Failed, fmt.Errorf("overlay: %w", err)
	}
	return command.Full, nil
}
