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
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Ways runs a Llama's shape in several ways: a program that is built on the solutions, for it is put together
// from those of bonus tasks b2, b6, b7 and b8.
var Ways = command.Command{Name: "ways", Group: command.Course, Summary: "what our kernels, a cache and weights of 4 bits bring to a whole Llama", Usage: "BATCH=16 SHAPE=tiny",
	Define: func(f *flag.FlagSet) command.Run {
		kind := f.String("device", "auto", "auto, `sim` or cuda")
		var passed []string // to the program
		pass := func(name, usage string) { command.Pass(f, &passed, name, usage) }
		pass("shape", "of a model with random weights: 70B, `8B`, 3B, 1B or tiny; without it 8B, in the simulator tiny")
		pass("model", "`folder` of a Llama as Hugging Face has it, instead")
		pass("batch", "`sequences` that step together; 1 without it")
		pass("prompt", "the `text` that every prompt is; with MODEL")
		pass("prompt-tokens", "`tokens` of each sequence's prompt; without it 512, in the simulator 20")
		pass("perplexity", "`file` of text: prompts are its stretches, and the perplexity is of what follows them; with MODEL")
		pass("tokens", "new `tokens` of each; without it 512, in the simulator 4")
		pass("ways", "numbers of the ways to run, as `1,2,5`; without it all that this machine supports. 6 and 7 are steps as one kernel")
		pass("seed", "the `seed` of the weights")
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
	program, err := buildFive(ctx, root, devices)
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
	return drawFive(ctx, root)
}

// buildFive builds the program on the solutions.
func buildFive(ctx context.Context, root string, devices run.Devices) (string, error) {
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

// drawFive draws the figure, if the program has left one.
func drawFive(ctx context.Context, root string) (int, error) {
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
