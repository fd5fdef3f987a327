package instructor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"flashlab/device"
	"flashlab/grader/bench/ways/asked"
	"flashlab/grader/command"
	"flashlab/grader/grading/run"
	"flashlab/internal/figure"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Ways runs a Llama's shape in several ways: a program that is built on the solutions, for it is put together
// from those of bonus tasks b2, b6, b7 and b8.
var Ways = command.Command{Name: "ways", Group: command.Course, Summary: "what our kernels, a cache and weights of 4 bits bring to a whole Llama", Usage: "BATCH=16 SHAPE=tiny",
	Define: func(f *flag.FlagSet) command.Run {
		kind := f.String("device", "auto", "auto, `sim` or cuda")
		var passed []string // to the program
		for _, one := range asked.Flags {
			f.Var(&command.Passed{Name: one.Name, To: &passed, Blank: one.Name == "prompt"}, one.Name, one.Usage) // an empty one is refused, not left out
		}
		return func([]string) (int, error) { return ways(*kind, passed) }
	}}

// picture is where the program leaves what is to be drawn, and where that goes.
const (
	waysFigure  = "out/ways.figure.json"
	waysPicture = "out/ways.png"
)

func ways(kind string, args []string) (int, error) {
	root, err := repo.Root()
	if err != nil {
		return command.Failed, err
	}
	devices, err := run.Choose(root, kind)
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	program, err := buildWays(ctx, root, devices)
	if err != nil {
		return command.Failed, err
	}
	_ = os.Remove(filepath.Join(root, waysFigure)) // of an earlier run: a simulator leaves none
	cmd := exec.CommandContext(ctx, program, append([]string{"-device", string(devices.Kind)}, args...)...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return command.Failed, nil // it has said why
		}
		return command.Failed, err
	}
	return drawWays(ctx, root)
}

// buildWays builds the program on the solutions.
func buildWays(ctx context.Context, root string, devices run.Devices) (string, error) {
	solutions := filepath.Join(root, "out", "solutions.json")
	if _, err := overlay(solutions, "", "", false); err != nil {
		return "", err
	}
	program := filepath.Join(root, "out", "bin", "ways")
	args := []string{"build", "-overlay=" + solutions, "-o", program}
	env := os.Environ()
	if devices.Kind == device.CUDA {
		args, env = append(args, "-tags", "cuda"), append(env, devices.Toolkit.CgoEnv(root)...)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./grader/bench/ways/program")...)
	cmd.Dir, cmd.Env = root, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("ways: its program does not build: %w\n%s", err, out)
	}
	return program, nil
}

// drawWays draws the figure, if the program has left one.
func drawWays(ctx context.Context, root string) (int, error) {
	file, err := os.Open(filepath.Join(root, waysFigure))
	if errors.Is(err, os.ErrNotExist) {
		return command.Full, nil
	}
	if err != nil {
		return command.Failed, err
	}
	defer file.Close()
	f, err := figure.Read(file)
	if err != nil {
		return command.Failed, err
	}
	if err := f.Draw(ctx, root, filepath.Join(root, waysPicture)); err != nil {
		return command.Failed, err
	}
	harmless.Println("Drawn:", waysPicture)
	return command.Full, nil
}
