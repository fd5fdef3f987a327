package student

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"flashlab/grader/command"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// Test runs the public checks of the tasks that have been started. A stub fails all of its checks,
// which would tell nothing and hide real failures.
var Test = command.Command{Name: "test", Summary: "run the public checks of the tasks that are begun",
	Define: func(*flag.FlagSet) command.Run { return func([]string) (int, error) { return test() } }}

func test() (int, error) {
	root, tasks, err := find("")
	if err != nil {
		return command.Failed, err
	}
	code := command.Full
	waiting := map[registry.Name]string{}
	begun := map[registry.Name]bool{}
	for _, t := range tasks {
		if waiting[t.Name], err = unbegun(root, t, begun); err != nil {
			return command.Failed, err
		}
		begun[t.Name] = waiting[t.Name] == ""
	}
	if !slices.Contains(slices.Collect(maps.Values(begun)), true) {
		fmt.Printf("Nothing to test yet: this runs the public checks of the tasks that you have begun. Begin with task %s: %s\n",
			tasks[0].Name, filepath.Join(tasks[0].Dir, "README.md"))
		return code, nil
	}
	for _, t := range tasks {
		if why := waiting[t.Name]; why != "" {
			fmt.Printf("task %s  %s: %s\n", t.Name, why, filepath.Join(t.Dir, "README.md"))
			continue
		}
		cmd := exec.Command("go", "test", "./"+t.Dir)
		cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stdout, os.Stderr
		fmt.Printf("task %s  go test ./%s\n", t.Name, t.Dir)
		if err := cmd.Run(); err != nil {
			code = command.Less
		}
	}
	return code, nil
}

// unbegun says why a task has nothing to test; "" if it has.
func unbegun(root string, t *rubric.Task, begun map[registry.Name]bool) (string, error) {
	if len(t.Files) == 0 {
		for _, n := range t.Uses {
			if !begun[n] {
				return fmt.Sprintf("waits for task %s", n), nil
			}
		}
		return "", nil
	}
	for _, name := range t.Files {
		if filepath.Ext(name) != ".go" || slices.Contains(t.Honours, name) {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, t.Dir, name))
		if err != nil {
			return "", fmt.Errorf("test: %w", err)
		}
		if stubs, written := handin.Stubs(src, t.Optional); len(stubs) == 0 || len(written) > 0 {
			return "", nil
		}
	}
	return "not begun", nil
}
