package student

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/device"
	"flashlab/grader/command"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// underCUDA is what profile and sanitize have in common: they start the worker under one of CUDA's
// tools.
type underCUDA struct {
	whose
	what               string // "profile"
	task, device, only string
	seed               uint64
	keep               string // folder for the tools' own logs
}

func (u *underCUDA) define(f *flag.FlagSet) {
	f.StringVar(&u.task, "task", "", aboutTask)
	u.all(f)
	f.StringVar(&u.only, "case", "", aboutCase)
	f.StringVar(&u.device, "device", "cuda", "cuda, or auto")
	f.Uint64Var(&u.seed, "seed", 1, aboutSeed)
	f.StringVar(&u.snapshot, "snapshot", "", aboutSnapshot)
	f.StringVar(&u.keep, "out", "", "`folder` for the tools' logs; out/TOOL without it")
}

// underCUDACommand is one of the two commands.
func underCUDACommand(name, summary string, course *Course, define func(f *flag.FlagSet, u *underCUDA) command.Run) command.Command {
	return command.Command{Name: name, Summary: summary, Usage: "TASK=4", Define: func(f *flag.FlagSet) command.Run {
		u := &underCUDA{what: name, whose: whose{course: course}}
		u.define(f)
		return define(f, u)
	}}
}

// picked are the cases that pick takes of each check.
func picked(pick func([]rubric.Case) []rubric.Case) starter {
	return func(ctx context.Context, o run.Options) (*run.Watched, error) { return run.Watch(ctx, o, pick) }
}

// starter builds the worker with what a tool is to look at.
type starter func(ctx context.Context, o run.Options) (*run.Watched, error)

func (u *underCUDA) worker(ctx context.Context, start starter) (*run.Watched, run.Devices, error) {
	root, task, err := findOne(u.what, u.task, "TASK=4")
	if err != nil {
		return nil, run.Devices{}, err
	}
	if !task.OnDevice() {
		return nil, run.Devices{}, fmt.Errorf("%s: task %s has no kernels: it is plain Go", u.what, task.Name)
	}
	devices, err := run.Choose(root, u.device)
	if err == nil && devices.Kind != device.CUDA {
		err = errors.New(devices.Why)
	}
	if err != nil {
		return nil, devices, fmt.Errorf("%s needs a GPU and CUDA's toolkit: %w. Without them the simulator checks memory and counts bytes: make grade TASK=%s; on a cluster's login node: make gpu TASK=%s DO=%s",
			u.what, err, task.Name, task.Name, u.what)
	}
	subject, err := u.files(root, task)
	if err != nil {
		return nil, devices, err
	}
	if u.keep == "" {
		u.keep = filepath.Join(root, "out", u.what)
	}
	if err := os.MkdirAll(u.keep, 0o755); err != nil {
		return nil, devices, err
	}
	fmt.Printf("%s on %s\n", subject.Name, devices.GPU)
	it, err := start(ctx, run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: u.seed, Only: u.only,
		Output: filepath.Join(root, "out")})
	return it, devices, err
}
