package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// runCommand starts a task's worker by itself: `make gpt2` and the like.
func runCommand(args []string) (int, error) {
	var g gradeFlags
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.StringVar(&g.task, "task", "", "number of the task")
	f.BoolVar(&g.solution, "solution", false, "with the reference solutions")
	f.StringVar(&g.device, "device", "auto", "auto, sim or cuda")
	if err := f.Parse(args); err != nil {
		return exitFailed, err
	}
	if f.NArg() == 0 {
		return exitFailed, errors.New("run: say what: run -task 7 gpt2 …")
	}
	root, tasks, err := find(g.task)
	if err != nil {
		return exitFailed, err
	}
	if len(tasks) != 1 {
		return exitFailed, errors.New("run: say which task: -task 7")
	}
	subject, err := g.subject(root, tasks[0])
	if err != nil {
		return exitFailed, err
	}
	devices, err := run.Choose(root, g.device)
	if err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = run.Standalone(ctx, run.Options{Root: root, Task: tasks[0], Ops: rooms.Ops, Subject: subject, Devices: devices,
		Output: filepath.Join(root, "out")}, f.Arg(0), f.Args()[1:])
	if errors.Is(err, run.ErrSaid) {
		return exitFailed, nil
	}
	if err != nil {
		return exitFailed, err
	}
	return exitFull, nil
}
