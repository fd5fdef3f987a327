package student

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"flashlab/grader/command"
	"flashlab/internal/repo"
)

// model is a command that has a worker run a model. The worker reads what is in told.
type model struct {
	whose
	device, kernels string
	passed          []string
}

func (m *model) define(f *flag.FlagSet) {
	m.solutions(f)
	f.StringVar(&m.device, "device", "auto", aboutDevice)
}

// pass adds a variable that goes on to the worker.
func (m *model) pass(f *flag.FlagSet, name, usage string) { command.Pass(f, &m.passed, name, usage) }

// E2E measures task 6's model.
func E2E(course *Course) command.Command {
	return command.Command{Name: "e2e", Summary: "time task 6's model on your kernels", Define: func(f *flag.FlagSet) command.Run {
		m := model{whose: whose{course: course}}
		m.define(f)
		f.StringVar(&m.kernels, "kernels", "own", "own, or `given`: the course's kernels, with your layer on them")
		m.pass(f, "size", "the `model`: tiny, small, medium, large or full; the largest that fits without it")
		m.pass(f, "tokens", "how `many` are timed")
		return func([]string) (int, error) {
			task := "7" // its worker holds your kernels of tasks 4 and 5, too
			if m.kernels == "given" {
				task = "6"
			}
			return m.start(task, m.device, append([]string{"e2e"}, m.passed...))
		}
	}}
}

// GPT2 writes text.
func GPT2(course *Course) command.Command {
	return command.Command{Name: "gpt2", Summary: "GPT-2 writes, on your kernels: PROMPT='In optics'", Define: func(f *flag.FlagSet) command.Run {
		m := model{whose: whose{course: course}}
		var weights, calibration string
		m.define(f)
		f.StringVar(&m.kernels, "kernels", "own", "own, or `given`: the course's kernels")
		f.Var(&command.Passed{Name: "prompt", To: &m.passed, Blank: true}, "prompt", "the `text` to go on from")
		m.pass(f, "prompt-tokens", "a prompt of so `many` random tokens, for timing")
		m.pass(f, "tokens", "how `many` to write; 100 without it")
		m.pass(f, "model", "`folder` with a GPT-2 as Hugging Face has it; or 124M, 355M, 774M or 1558M for random weights; the course's own without it")
		m.pass(f, "temperature", "0 is greedy; `0.8`, say, draws each token")
		m.pass(f, "topk", "draws from the `k` likeliest tokens only")
		m.pass(f, "topp", "draws from the likeliest tokens that add up to `p` only")
		m.pass(f, "seed", "the `seed` of what is drawn")
		m.pass(f, "step", "how a token is decoded: `graph`; in the teachers' tree persistent, too: one kernel for all of it, on a GPU from Hopper on (persistent,bits=16: its matrices in halves)")
		f.Var(&command.Passed{Name: "ref", To: &m.passed, On: true}, "ref", "beside the same model in plain Go, and Hugging Face's if there is one")
		m.pass(f, "perplexity", "measures the perplexity on this `file` of text, and stops")
		m.pass(f, "cache", "with PERPLEXITY: keys and values in `kivi`, int8, int4 or halves, or all in turn; in plain Go")
		f.StringVar(&weights, "weights", "", "with PERPLEXITY: the layers' matrices in `gptq`, gptq-zeros, int4, int4-zeros or full, or all in turn; in plain Go")
		f.StringVar(&calibration, "calibration", "", "`file` of text that gptq rounds for, less what PERPLEXITY's has of it; Newton's Opticks without it")
		m.pass(f, "head", "`folder` with one head: compares it with PyTorch, and stops")
		return func([]string) (int, error) {
			passed, err := rounding(weights, calibration)
			if err != nil {
				return command.Failed, err
			}
			// The course's kernels need none of a student's code: in the course's tree solutions stand in for it.
			m.solution = m.solution || m.course != nil && m.kernels == "given"
			m.passed = append([]string{"gpt2", "-kernels=" + m.kernels}, append(m.passed, passed...)...)
			return m.start("7", m.device, m.passed)
		}
	}}
}

// rounding says what matrices are rounded to, and for which text: Go's own copy of the Opticks, if no other is named.
func rounding(weights, calibration string) ([]string, error) {
	if weights == "" && calibration == "" {
		return nil, nil
	}
	if calibration == "" {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return nil, fmt.Errorf("gpt2: go env GOROOT: %w", err)
		}
		calibration = filepath.Join(strings.TrimSpace(string(root)), "src", "testdata", "Isaac.Newton-Opticks.txt")
	}
	return []string{"-weights=" + weights, "-calibration=" + calibration}, nil
}

// Plot draws what a task measures.
func Plot(course *Course) command.Command {
	return command.Command{Name: "plot", Summary: "draw traffic (task 3), or splitting (task 5)", Usage: "TASK=3", Define: func(f *flag.FlagSet) command.Run {
		w := whose{course: course}
		task := f.String("task", "3", "`3`: traffic against SRAM; 5: splitting against none")
		w.solutions(f)
		device := f.String("device", "auto", aboutDevice)
		return func([]string) (int, error) {
			root, err := repo.Root()
			if err != nil {
				return command.Failed, err
			}
			ctx, stop := command.Interruptible()
			defer stop()
			return plot(ctx, root, *task, *device, w.solution)
		}
	}}
}

func plot(ctx context.Context, root, task, device string, solution bool) (int, error) {
	cmd := exec.CommandContext(ctx, "sh", "scripts/plot.sh")
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "TASK="+task, "DEVICE="+device, "SOLUTION=")
	if solution {
		cmd.Env = append(cmd.Env, "SOLUTION=1")
	}
	if cmd.Run() != nil { // it has said why
		return command.Failed, nil
	}
	return command.Full, nil
}
