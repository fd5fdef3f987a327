package student

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"strings"

	"flashlab/grader/bench/nvidia"
	"flashlab/grader/command"
	"flashlab/grader/grading/run"
	"flashlab/internal/harmless"
)

// maxShown is how many findings of a tool are printed.
const maxShown = 8

// Sanitize runs a task's kernels under compute-sanitizer's tools.
func Sanitize(course *Course) command.Command {
	return underCUDACommand("sanitize", "the kernels under compute-sanitizer's four tools", course, func(f *flag.FlagSet, u *underCUDA) command.Run {
		tools := f.String("tools", strings.Join(nvidia.SanitizerTools, ","), "which of them")
		return func([]string) (int, error) { return u.sanitize(strings.Split(*tools, ",")) }
	})
}

func (u *underCUDA) sanitize(tools []string) (int, error) {
	ctx, stop := command.Interruptible()
	defer stop()
	it, devices, err := u.worker(ctx, picked(nvidia.Small))
	if err != nil {
		return command.Failed, err
	}
	defer it.Close()
	path, err := nvidia.Find("compute-sanitizer", devices.Toolkit.Nvcc)
	if err != nil {
		return command.Failed, err
	}
	help, _ := exec.CommandContext(ctx, path, "--help").CombinedOutput()
	harmless.Printf("%d cases under compute-sanitizer: %s\n", len(it.Names), strings.Join(it.Names, ", "))
	code := command.Full
	for _, tool := range tools {
		clean, err := u.under(ctx, path, tool, string(help), it)
		if ctx.Err() != nil {
			return command.Failed, errors.New("interrupted")
		}
		if err != nil {
			return command.Failed, fmt.Errorf("%s: %w", tool, err)
		}
		if !clean {
			code = command.Less
		}
	}
	return code, nil
}

// under runs one tool and prints what it found; clean is nothing, and every case returned.
func (u *underCUDA) under(ctx context.Context, path, tool, help string, it *run.Watched) (clean bool, err error) {
	s, err := nvidia.Sanitize(ctx, path, tool, help, u.keep, it)
	if err != nil {
		return false, err
	}
	harmless.Printf("\n%s: %s (%.1f s)\n", tool, numbered(len(s.Found), "finding"), s.Took.Seconds())
	for i, f := range s.Found {
		if i == maxShown {
			harmless.Printf("  and %d more, in %s\n", len(s.Found)-i, s.Log)
			break
		}
		harmless.Println("\n  " + strings.ReplaceAll(f.String(), "\n", "\n  "))
	}
	return !failed(nvidia.Failures(it)) && len(s.Found) == 0, nil
}

// numbered writes a number with its noun.
func numbered(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
