package run

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"flashlab/device"
)

// Standalone builds the task's worker around the subject and starts it on its own,
// for what it can do besides grading. The arguments are the worker's. It learns the
// device from -device, which follows the first of them.
func Standalone(ctx context.Context, o Options, mode string, args []string) error {
	program, closed, err := Program(ctx, o)
	if err != nil {
		return err
	}
	defer closed()
	cmd := program(mode, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return ErrReported
	}
	return err
}

// Program builds the same, and gives the commands that start it. closed removes it.
func Program(ctx context.Context, o Options) (program func(mode string, args ...string) *exec.Cmd, closed func(), err error) {
	s, err := o.prepare()
	if err != nil {
		return nil, nil, notRun(err)
	}
	p := o.Devices.passes()[0]
	built, err := s.alone(ctx, p)
	if err != nil {
		s.close()
		return nil, nil, err
	}
	kind := device.Sim
	if o.Devices.Kind == device.CUDA {
		kind = device.CUDA
	}
	return func(mode string, args ...string) *exec.Cmd {
		return o.program(ctx, p, built.Binary, append([]string{mode, "-device", string(kind)}, args...))
	}, s.close, nil
}

// program starts a worker on its own.
func (o Options) program(ctx context.Context, p pass, binary string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), p.buildEnv...)
	if filepath.IsAbs(o.Output) {
		cmd.Env = append(cmd.Env, "FLASHLAB_CACHE="+filepath.Join(o.Output, "cache"))
	}
	return cmd
}

// ErrReported says that the program failed, and has printed why.
var ErrReported = errors.New("it failed, as it said above")
