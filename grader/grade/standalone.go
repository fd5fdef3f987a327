package grade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"flashlab/device"
	"flashlab/grader/build"
	"flashlab/grader/gate"
)

// Standalone builds the task's worker around the subject and starts it by itself,
// for what it can do besides grading: arguments are its own. It gets to know the
// device by -device, behind the first of them.
func Standalone(ctx context.Context, o Options, mode string, args []string) error {
	files, err := o.files()
	var refused *gate.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("it was not run:\n%w", refused)
	}
	if err != nil {
		return err
	}
	dir, err := o.buildDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := o.Devices.passes()[0]
	res, err := build.Worker(ctx, build.Request{Root: o.Root, Task: o.Task, Files: files, Dir: dir, Tags: p.tags, Env: p.buildEnv})
	if err != nil {
		return err
	}
	kind := device.Sim
	if o.Devices.Kind == device.CUDA {
		kind = device.CUDA
	}
	cmd := exec.CommandContext(ctx, res.Binary, append([]string{mode, "-device", string(kind)}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), p.buildEnv...)
	if filepath.IsAbs(o.Output) {
		cmd.Env = append(cmd.Env, "FLASHLAB_CACHE="+filepath.Join(o.Output, "cache"))
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return ErrSaid
	}
	return err
}

// ErrSaid: the program failed, and has said why.
var ErrSaid = errors.New("it failed, as it said above")
