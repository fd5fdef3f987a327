package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"flashlab/device"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// tuneCommand tries tile sizes for task 4.
func tuneCommand(args []string) (int, error) {
	var g gradeFlags
	tuning := run.DefaultTuning()
	f := flag.NewFlagSet("tune", flag.ContinueOnError)
	f.StringVar(&g.task, "task", "4", "number of the task")
	f.BoolVar(&g.solution, "solution", false, "tune the reference solution")
	f.StringVar(&g.device, "device", "auto", "auto, sim or cuda")
	f.IntVar(&tuning.Dim, "dim", tuning.Dim, "head `dimension`")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	root, tasks, err := find(g.task)
	if err != nil {
		return exitFailed, err
	}
	if len(tasks) != 1 {
		return exitFailed, errors.New("tune: say which task: TASK=4")
	}
	subject, err := g.subject(root, tasks[0])
	if err != nil {
		return exitFailed, err
	}
	devices, err := run.Choose(root, g.device)
	if err != nil {
		return exitFailed, err
	}
	gpu := devices.Kind == device.CUDA
	by := "bytes moved, then passes of shared memory's banks"
	if gpu {
		by = "time"
	}
	fmt.Printf("Tuning %s, head dimension %d, on %s: each must be right, then they are ranked by %s\n",
		subject.Name, tuning.Dim, devices.Name(), by)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	terminal := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	progress := report.NewProgress(os.Stdout, terminal, "tiles")
	tried, err := run.Tune(ctx, run.Options{Root: root, Task: tasks[0], Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: 1,
		Output: filepath.Join(root, "out"), Progress: progress.Case}, tuning)
	progress.Stop()
	if err != nil {
		return exitFailed, fmt.Errorf("tune: %w", err)
	}
	report.Printer{W: os.Stdout, Terminal: terminal}.Tuning(tried, gpu)
	if err := pictureOf(tried, tuning.Dim, gpu).draw(ctx, root); err != nil {
		return exitFailed, fmt.Errorf("tune: %w", err)
	}
	return exitFull, nil
}
