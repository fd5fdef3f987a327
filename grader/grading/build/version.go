package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
)

// versionsDir has a name that `go build ./...` ignores: a version holds only the
// files that it does not share with the solution.
func versionsDir(root string, t *rubric.Task) string {
	return filepath.Join(root, t.Dir, "solution", "_versions")
}

// Versions lists the earlier versions of a task's solution, the simplest first.
func Versions(root string, t *rubric.Task) (names []string) {
	entries, _ := os.ReadDir(versionsDir(root, t)) // most tasks have none
	for _, e := range entries {
		// An empty folder is what git leaves of a version that got another name.
		files, _ := os.ReadDir(filepath.Join(versionsDir(root, t), e.Name()))
		if len(files) > 0 {
			names = append(names, e.Name())
		}
	}
	return names
}

// Version puts an earlier version's files in place of the solution's own. What
// the version does not have, it shares with the solution.
func Version(root string, t *rubric.Task, name string, solution []gate.File) ([]gate.File, error) {
	if names := Versions(root, t); !slices.Contains(names, name) {
		return nil, fmt.Errorf("the solution of task %s has no version %q; it has %q", t.Name, name, names)
	}
	files := slices.Clone(solution)
	for i, f := range files {
		if f.Task != t.Dir {
			continue
		}
		data, err := os.ReadFile(filepath.Join(versionsDir(root, t), name, f.Name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files[i].Data = data
	}
	return files, nil
}

// VersionTitle is a version's name for use in a sentence: "2_registers" is
// "version 2, registers".
func VersionTitle(name string) string {
	number, rest, _ := strings.Cut(name, "_")
	return "version " + number + ", " + strings.ReplaceAll(rest, "_", " ")
}
