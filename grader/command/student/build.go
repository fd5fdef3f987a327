package student

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"flashlab/grader/command"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/harmless"
)

// Build compiles a task's files as grading does, and no more.
func Build(course *Course) command.Command {
	return command.Command{Name: "build", Summary: "only compile them, with the compilers' messages", Usage: "TASK=4",
		Define: func(f *flag.FlagSet) command.Run {
			w := whose{course: course}
			task := f.String("task", "", aboutTask+"; all but task 0 and the bonus tasks without it")
			f.StringVar(&w.submission, "submission", "", aboutFolder)
			w.all(f)
			device := f.String("device", "auto", aboutDevice)
			return func([]string) (int, error) { return w.build(*task, *device) }
		}}
}

func (w whose) build(name, device string) (int, error) {
	root, tasks, err := find(name)
	if err != nil {
		return command.Failed, err
	}
	devices, err := run.Choose(root, device)
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	code := command.Full
	for _, t := range tasks {
		ok, err := w.buildOne(ctx, root, t, devices)
		if err != nil {
			return command.Failed, fmt.Errorf("task %s: %w", t.Name, err)
		}
		if !ok {
			code = command.Less
		}
	}
	return code, nil
}

func (w whose) buildOne(ctx context.Context, root string, t *rubric.Task, devices run.Devices) (ok bool, err error) {
	subject, err := w.files(root, t)
	if err != nil {
		return false, err
	}
	terminal := command.Terminal()
	progress := report.NewProgress(os.Stdout, terminal, fmt.Sprintf("task %s", t.Name))
	result, err := run.Compile(ctx, run.Options{Root: root, Task: t, Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: 1,
		Output: filepath.Join(root, "out")})
	progress.Stop()
	if err != nil {
		return false, err
	}
	if result.Wrong != "" {
		harmless.Printf("Task %s does not build:\n  %s\n", t.Name, strings.ReplaceAll(strings.TrimSpace(result.Wrong), "\n", "\n  "))
		return false, nil
	}
	harmless.Printf("Task %s builds: %s%s\n", t.Name, result.What, result.But)
	return true, nil
}
