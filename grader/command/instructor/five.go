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
	"flashlab/grader/command"
	"flashlab/grader/grading/run"
	"flashlab/internal/figure"
	"flashlab/internal/repo"
)

// Five runs a Llama's shape in five ways: a program that is built on the solutions, for it is put together
// from those of bonus tasks b2, b6, b7 and b8.
var Five = command.Command{Name: "five", Summary: "a whole model in halves, with our attention, a cache and weights of 4 bits, and all of it", Usage: "[-device sim] -- [-batch 16 -shape tiny …]", Args: command.Rest,
	Define: func(f *flag.FlagSet) command.Run {
		kind := f.String("device", "auto", "auto, sim or cuda")
		return func(args []string) (int, error) { return five(*kind, args) }
	}}

// picture is where the program leaves what is to be drawn, and where that goes.
const (
	fiveFigure  = "out/five.figure.json"
	fivePicture = "out/five.png"
)

func five(kind string, args []string) (int, error) {
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
	program, err := buildFive(ctx, root, devices)
	if err != nil {
		return command.Failed, err
	}
	_ = os.Remove(filepath.Join(root, fiveFigure)) // of an earlier run: a simulator leaves none
	cmd := exec.CommandContext(ctx, program, append([]string{"-device", string(devices.Kind)}, args...)...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return command.Failed, nil // it has said why
		}
		return command.Failed, err
	}
	return drawFive(ctx, root)
}

// buildFive builds the program on the solutions.
func buildFive(ctx context.Context, root string, devices run.Devices) (string, error) {
	solutions := filepath.Join(root, "out", "solutions.json")
	if _, err := overlay(solutions, "", "", false); err != nil {
		return "", err
	}
	program := filepath.Join(root, "out", "bin", "five")
	args := []string{"build", "-overlay=" + solutions, "-o", program}
	env := os.Environ()
	if devices.Kind == device.CUDA {
		args, env = append(args, "-tags", "cuda"), append(env, devices.Toolkit.CgoEnv(root)...)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./grader/bench/five/program")...)
	cmd.Dir, cmd.Env = root, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("five: its program does not build: %w\n%s", err, out)
	}
	return program, nil
}

// drawFive draws the figure, if the program has left one.
func drawFive(ctx context.Context, root string) (int, error) {
	file, err := os.Open(filepath.Join(root, fiveFigure))
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
	if err := f.Draw(ctx, root, filepath.Join(root, fivePicture)); err != nil {
		return command.Failed, err
	}
	fmt.Println("Drawn:", fivePicture)
	return command.Full, nil
}
