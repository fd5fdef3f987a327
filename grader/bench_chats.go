package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"flashlab/device"
	"flashlab/grader/grade"
	"flashlab/grader/reference"
	"flashlab/grader/rubric"
)

// chat is a model that answers, ours in one program and PyTorch's in another.
type chat struct {
	task   int
	name   string
	mode   string
	args   []string
	small  []string // for the simulator, where it only has to run
	script string   // in bench/peers
}

var allChats = []chat{
	{6, "task 6's model at full size, batch 4, prompt of 1024", "e2e", []string{"-size", "full"}, []string{"-size", "tiny", "-tokens", "4"}, "llama.py"},
	{7, "GPT-2 124M's shape, batch 1, prompt of 512", "gpt2", []string{"-model", "124M", "-prompt-tokens", "512"},
		[]string{"-tokens", "3"}, "gpt2.py"},
}

// rounds is how often both programs run, in turns.
const rounds = 2

// chatty tells whether there is a chat of a task.
func (b benchFlags) chatty(task int) bool {
	for _, c := range allChats {
		if c.task == task && b.workload == "" && !b.mistakes {
			return true
		}
	}
	return false
}

// chats runs those of one task, ours and PyTorch's in turns. Both run on the worker
// that holds the kernels of tasks 4 and 5 as well.
func (b benchRun) chats(ctx context.Context) (all []reference.Chat, err error) {
	tasks, err := rubric.LoadAll(b.o.Root)
	if err != nil {
		return nil, err
	}
	holder, err := rubric.Find(tasks, "7")
	if err != nil {
		return nil, err
	}
	o := b.o
	o.Task = holder[0]
	if o.Subject, err = b.subject(o.Root, o.Task); err != nil {
		return nil, err
	}
	program, closed, err := grade.Program(ctx, o)
	if err != nil {
		return nil, err
	}
	defer closed()
	for _, c := range allChats {
		if c.task != b.o.Task.Number {
			continue
		}
		result := reference.Chat{Name: c.name}
		if b.o.Devices.Kind != device.CUDA {
			result.Not = "needs a GPU"
			if _, err := output(program(c.mode, c.small...)); err != nil { // it works, at least
				return nil, err
			}
		} else if err := b.turns(ctx, c, program, &result); err != nil {
			return nil, err
		}
		all = append(all, result)
	}
	fmt.Print(reference.Part{Chats: all}.ChatTable())
	return all, nil
}

func (b benchRun) turns(ctx context.Context, c chat, program func(mode string, args ...string) *exec.Cmd, to *reference.Chat) error {
	if b.torch == nil {
		to.Not = b.absent
	}
	for range rounds {
		ours, wrote, err := timesOf(program(c.mode, append(c.args, "-json")...))
		if err != nil {
			return err
		}
		to.Ours = append(to.Ours, ours)
		if to.Not != "" {
			continue
		}
		cmd := exec.CommandContext(ctx, "python3", filepath.Join(b.o.Root, "bench", "peers", c.script), "--json")
		theirs, theyWrote, err := timesOf(cmd)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // such as too little memory
			to.Not, to.Theirs = err.Error(), nil
			continue
		}
		to.Theirs = append(to.Theirs, theirs)
		to.Compare(wrote, theyWrote)
	}
	return nil
}

// timesOf runs a program whose last line is its times, and what it wrote.
func timesOf(cmd *exec.Cmd) (t reference.Times, w reference.Written, err error) {
	out, err := output(cmd)
	if err != nil {
		return t, w, err
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	last := lines[len(lines)-1]
	if err := errors.Join(json.Unmarshal(last, &t), json.Unmarshal(last, &w)); err != nil {
		return t, w, fmt.Errorf("%s: its last line is no times: %w", filepath.Base(cmd.Path), err)
	}
	return t, w, nil
}

func output(cmd *exec.Cmd) ([]byte, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w", filepath.Base(cmd.Path), cmd.Args[1:], err)
	}
	return out, nil
}
