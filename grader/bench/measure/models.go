package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/registry"
)

// model is one that answers, ours in one program and PyTorch's in another.
type model struct {
	task   registry.Name
	name   string
	id     string
	mode   string
	args   []string
	small  []string // for the simulator, where it only has to run; nil where it cannot
	script string   // in bench/peers
	asked  []string // what that is asked for
	newer  bool     // only GPUs from Hopper on can: elsewhere it is left out
}

// ofWays is the mode of models that the program of `grader ways` runs, which is built on the solutions alone.
const ofWays = "ways"

var models = []model{
	{task: "6", name: "task 6's model at full size, batch 4, prompt of 1024", id: "llama-4-1024", mode: "e2e", args: []string{"-size", "full"},
		small: []string{"-size", "tiny", "-tokens", "4"}, script: "llama.py"},
	{task: "7", name: "GPT-2 124M's shape, batch 1, prompt of 512", id: "gpt2-1-512", mode: "gpt2", args: []string{"-model", "124M", "-prompt-tokens", "512"},
		small: []string{"-tokens", "3"}, script: "gpt2.py"},
	{task: "7", name: "the same, each token by one kernel", id: "gpt2-1-512-one", mode: "gpt2", args: []string{"-model", "124M", "-prompt-tokens", "512", "-step", "persistent"},
		script: "gpt2.py", newer: true},
	{task: "b9", name: "Llama 3.1 8B's shape in halves, batch 1, prompt of 512, each token by one kernel", id: "llama8b-1-halves", mode: ofWays, args: []string{"-ways", "6", "-tokens", "64"},
		script: "llama8b.py", asked: []string{"--batch", "1"}, newer: true},
	{task: "b9", name: "the same, batch 16, each token by a graph", id: "llama8b-16-halves", mode: ofWays, args: []string{"-ways", "2", "-tokens", "64", "-batch", "16"},
		small: []string{"-ways", "2", "-tokens", "2"}, script: "llama8b.py", asked: []string{"--batch", "16"}},
	{task: "b9", name: "the same with weights of four bits, batch 1, each token by one kernel", id: "llama8b-1-four", mode: ofWays, args: []string{"-ways", "7", "-tokens", "64"},
		script: "llama8b.py", asked: []string{"--batch", "1", "--bits", "4"}, newer: true},
}

// rounds is how often both programs run, in turns.
const rounds = 2

// hasModel tells whether one uses a task's code.
func (b Options) hasModel(task registry.Name) bool {
	return b.Workload == "" && slices.ContainsFunc(models, func(m model) bool { return m.task == task && (m.mode != ofWays || b.Ways != nil) })
}

// starts is how a program is run, in one of its modes.
type starts func(mode string, args ...string) *exec.Cmd

// models runs those of one task, ours and PyTorch's in turns.
func (b Options) models(ctx context.Context, p *page.Part) error {
	if err := b.ceiling(ctx, p); err != nil {
		return err
	}
	program, closed, err := b.program(ctx)
	if err != nil {
		return err
	}
	defer closed()
	heard := heard{}
	for _, c := range models {
		if c.task != b.Task.Name {
			continue
		}
		result := page.Model{Name: c.name, ID: c.id}
		if b.Page != nil {
			result.Kernels = b.Page.Code.Model(c.task)
		}
		if b.Devices.Kind != device.CUDA {
			result.Not = "needs a GPU"
			if c.small != nil {
				if _, err := output(program(c.mode, c.small...)); err != nil { // it works, at least
					return err
				}
			}
		} else if err := b.turns(ctx, c, program, &result, heard); err != nil {
			if !c.newer || ctx.Err() != nil {
				return err
			}
			result = page.Model{Name: c.name, ID: c.id, Kernels: result.Kernels, Not: err.Error()}
		}
		p.Models = append(p.Models, result)
	}
	fmt.Print(p.ModelTable())
	return nil
}

// program is the one that runs a task's models: that of ways for b9, and else the worker that holds the kernels of tasks
// 4 and 5 as well.
func (b Options) program(ctx context.Context) (start starts, closed func(), err error) {
	if b.Task.Name == "b9" {
		file, err := b.Ways(ctx)
		return func(_ string, args ...string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, file, append([]string{"-device", string(b.Devices.Kind)}, args...)...)
			cmd.Dir = b.Root
			return cmd
		}, func() {}, err
	}
	o, err := b.other("7")
	if err != nil {
		return nil, nil, err
	}
	if o.Subject, err = b.Whose(o.Task); err != nil {
		return nil, nil, err
	}
	return run.Program(ctx, o)
}

// ceiling measures what the machine can do, on a GPU. The kernels of that are the grader's
// own; the worker of task 5 is one that has them. The students' tree has none that is sure
// to build: there the times stand without their share of the ceiling.
func (b Options) ceiling(ctx context.Context, p *page.Part) error {
	if b.Devices.Kind != device.CUDA || b.Released {
		return nil
	}
	o, err := b.other("5")
	if err != nil {
		return err
	}
	o.Subject = run.Solution(o.Root, o.Task)
	r, closed, err := run.Open(ctx, o, turn)
	if err != nil {
		return err
	}
	defer closed()
	if p.Test, err = race.Test(ctx, r, "decode", b.race()); err == nil {
		fmt.Println(p.Test)
	}
	return err
}

// other is the run's options for another task.
func (b Options) other(task registry.Name) (o run.Options, err error) {
	tasks, err := rubric.LoadAll(b.Root)
	if err != nil {
		return o, err
	}
	some, err := rubric.Find(tasks, string(task))
	if err != nil {
		return o, err
	}
	o = b.Options
	o.Task = some[0]
	return o, nil
}

// heard are the answers of PyTorch's programs, by how they were asked: two of ours may race the same one, which runs once.
type heard map[string][]answer

func (b Options) turns(ctx context.Context, c model, program starts, to *page.Model, heard heard) error {
	if b.Torch == nil {
		to.Not = b.Absent
	}
	compiled := page.Other{Name: Compiled, Not: to.Not}
	for round := range rounds {
		ours, err := answerOf(program(c.mode, append(slices.Clone(c.args), "-json")...))
		if err != nil {
			return err
		}
		to.Ours, to.Work = append(to.Ours, ours.Times), ours.Work
		eager := page.Other{Times: to.Theirs, Not: to.Not, Agreement: to.Agreement}
		if err := b.turnOf(ctx, c, ours, &eager, heard); err != nil {
			return err
		}
		to.Theirs, to.Not, to.Agreement = eager.Times, eager.Not, eager.Agreement
		if round == rounds-1 { // once: compiling takes longer than all the rest
			if err := b.turnOf(ctx, c, ours, &compiled, heard, "--compile"); err != nil {
				return err
			}
		}
	}
	to.Others = append(to.Others, compiled)
	return nil
}

// Compiled is what a page calls the same program through torch.compile.
const Compiled = "PyTorch, torch.compile in a CUDA graph"

// turnOf runs the peer's program once more, if it ran before.
func (b Options) turnOf(ctx context.Context, c model, ours answer, to *page.Other, heard heard, more ...string) error {
	if to.Not != "" {
		return nil
	}
	args := slices.Concat([]string{filepath.Join(b.Root, "bench", "peers", c.script), "--json"}, c.asked, more)
	key := strings.Join(args, " ")
	if len(heard[key]) <= len(to.Times) {
		theirs, err := answerOf(exec.CommandContext(ctx, "python3", args...))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // such as too little memory
			to.Not, to.Times = err.Error(), nil
			return nil
		}
		heard[key] = append(heard[key], theirs)
	}
	theirs := heard[key][len(to.Times)]
	to.Times = append(to.Times, theirs.Times)
	if c.mode != ofWays { // whose weights are random ones of their own
		to.Compare(ours.Written, theirs.Written)
	}
	return nil
}

// answer is what a program of a model says in its last line.
type answer struct {
	page.Times
	page.Written
	Work page.Work
}

// answerOf runs such a program.
func answerOf(cmd *exec.Cmd) (a answer, err error) {
	out, err := output(cmd)
	if err != nil {
		return a, err
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &a); err != nil {
		return a, fmt.Errorf("%s: its last line is no times: %w", filepath.Base(cmd.Path), err)
	}
	return a, nil
}

func output(cmd *exec.Cmd) ([]byte, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w", filepath.Base(cmd.Path), cmd.Args[1:], err)
	}
	return out, nil
}
