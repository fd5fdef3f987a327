package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"flashlab/device"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// watchFlags are what profile and sanitize have in common: they start the worker
// under one of CUDA's tools.
type watchFlags struct {
	gradeFlags
	keep string // folder for the tools' own logs
}

func (w *watchFlags) define(f *flag.FlagSet) {
	f.StringVar(&w.task, "task", "", "number of the task, `4`")
	f.BoolVar(&w.solution, "solution", false, "the reference solution")
	f.StringVar(&w.mutant, "mutant", "", "a known-wrong solution by its `name`")
	f.StringVar(&w.only, "case", "", "one check, or one `case` of it: softmax/17x113")
	f.StringVar(&w.device, "device", "cuda", "cuda, or auto")
	f.Uint64Var(&w.seed, "seed", 1, "seed of the inputs")
	f.StringVar(&w.snapshot, "snapshot", "", "take a copy of your files, made earlier, from this `folder`")
	f.StringVar(&w.out, "out", "", "`folder` for the tools' logs; out/TOOL without it")
}

// watched builds the worker with the cases that pick takes.
func (w *watchFlags) watched(ctx context.Context, what string, pick func([]rubric.Case) []rubric.Case) (*run.Watched, run.Devices, error) {
	root, err := repo.Root()
	if err != nil {
		return nil, run.Devices{}, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return nil, run.Devices{}, err
	}
	tasks, err := rubric.Find(all, w.task)
	if err != nil {
		return nil, run.Devices{}, err
	}
	if len(tasks) != 1 {
		return nil, run.Devices{}, fmt.Errorf("%s: say which task: TASK=4", what)
	}
	if !tasks[0].OnDevice() {
		return nil, run.Devices{}, fmt.Errorf("%s: task %s has no kernels: it is plain Go", what, tasks[0].Name)
	}
	devices, err := run.Choose(root, w.device)
	if err == nil && devices.Kind != device.CUDA {
		err = errors.New(devices.Why)
	}
	if err != nil {
		return nil, devices, fmt.Errorf("%s needs a GPU and CUDA's toolkit: %w. Without them the simulator checks memory and counts bytes: make grade TASK=%s; on a cluster's login node: make gpu TASK=%s DO=%s",
			what, err, tasks[0].Name, tasks[0].Name, what)
	}
	subject, err := w.subject(root, tasks[0])
	if err != nil {
		return nil, devices, err
	}
	if w.keep = w.out; w.keep == "" {
		w.keep = filepath.Join(root, "out", what)
	}
	if err := os.MkdirAll(w.keep, 0o755); err != nil {
		return nil, devices, err
	}
	fmt.Printf("%s on %s\n", subject.Name, devices.GPU)
	it, err := run.Watch(ctx, run.Options{Root: root, Task: tasks[0], Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: w.seed, Only: w.only,
		Output: filepath.Join(root, "out")}, pick)
	return it, devices, err
}

// start runs a tool around the worker; what it and the worker print is kept in a
// file. code is the tool's exit code.
func start(ctx context.Context, tool string, args []string, it *run.Watched, log string) (code int, err error) {
	file, err := os.Create(log)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, tool, append(args, it.Command...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = it.Env, file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
