package student

import (
	"errors"
	"flag"
	"path/filepath"

	"flashlab/grader/command"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// Run starts a task's worker on its own: `make gpt2` and the like.
func Run(course *Course) command.Command {
	return command.Command{Name: "run", Summary: "start a task's worker on its own", Group: command.Itself, Usage: "TASK=7 gpt2 [its flags]", Args: command.Rest,
		Define: func(f *flag.FlagSet) command.Run {
			w := whose{course: course}
			task := f.String("task", "", aboutTask)
			w.solutions(f)
			device := f.String("device", "auto", aboutDevice)
			return func(args []string) (int, error) { return w.start(*task, *device, args) }
		}}
}

// start runs the worker with its own arguments.
func (w whose) start(number, device string, args []string) (int, error) {
	if len(args) == 0 {
		return command.Failed, errors.New("run: say what: run TASK=7 gpt2 …")
	}
	root, task, err := findOne("run", number, "TASK=7")
	if err != nil {
		return command.Failed, err
	}
	return w.startTask(root, task, device, args)
}

// startTask is start of a task that is at hand.
func (w whose) startTask(root string, task *rubric.Task, device string, args []string) (int, error) {
	subject, err := w.files(root, task)
	if err != nil {
		return command.Failed, err
	}
	devices, err := run.Choose(root, device)
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	err = run.Standalone(ctx, run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: subject, Devices: devices,
		Output: filepath.Join(root, "out")}, args[0], args[1:])
	if errors.Is(err, run.ErrReported) {
		return command.Failed, nil
	}
	if err != nil {
		return command.Failed, err
	}
	return command.Full, nil
}
