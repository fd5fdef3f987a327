package nvidia

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"

	"flashlab/grader/grading/run"
)

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
