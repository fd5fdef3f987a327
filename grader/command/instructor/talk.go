package instructor

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"flashlab/device"
	"flashlab/grader/bench/talk"
	"flashlab/grader/command"
	"flashlab/grader/command/student"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Talk has a trained model answer on the solutions' kernels, and on such with a mistake.
var Talk = command.Command{Name: "talk", Group: command.Course, Summary: "what a trained model says on the solutions, and on mutants", Usage: "[PAGE=1]",
	Define: func(f *flag.FlagSet) command.Run {
		var t talks
		f.StringVar(&t.device, "device", "auto", "auto, `sim` or cuda")
		f.StringVar(&t.kernels, "kernels", "own", "own: tasks 4 and 5's; `halves`: b2's and b6's")
		f.StringVar(&t.model, "model", "", "a GGUF `file`, or the folder of a Hugging Face Llama; without it SmolLM2-135M-Instruct")
		f.StringVar(&t.prompt, "prompt", "Why is the sky blue?", "the `question`")
		f.IntVar(&t.tokens, "tokens", 24, "how `many` tokens an answer has at most")
		f.BoolVar(&t.alone, "alone", false, "only the solutions talk, no mutants")
		f.StringVar(&t.from, "from", "", "an earlier run's `talk.json`, of a GPU say, to write into the page with PAGE=1; nobody talks")
		f.BoolVar(&t.page, "page", false, "write docs/talk.md, in which all other parts stay")
		return func([]string) (int, error) {
			if err := t.run(); err != nil {
				return command.Failed, fmt.Errorf("talk: %w", err)
			}
			return command.Full, nil
		}
	}}

// talks are what is to be asked, and where.
type talks struct {
	device, kernels, model, prompt, from string
	tokens                               int
	page, alone                          bool
}

func (t talks) run() error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	file := t.from
	if file == "" {
		file = filepath.Join(root, "out", "talk.json")
		if err := t.ask(root, file); err != nil {
			return err
		}
	}
	newer, err := talk.Read(file)
	if err != nil || !t.page {
		return err
	}
	kept := filepath.Join(root, "docs", "talk.json")
	all, err := talk.Read(kept)
	if err != nil {
		return err
	}
	all = talk.Join(all, newer)
	if err := talk.Write(kept, all); err != nil {
		return err
	}
	harmless.Println("Written: docs/talk.md")
	return cache.WriteFile(filepath.Join(root, "docs", "talk.md"), []byte(talk.Page(all)), 0o644)
}

// ask asks all, and writes to the file after each.
func (t talks) ask(root, file string) error {
	model, err := student.Talker(t.model)
	if err != nil {
		return err
	}
	devices, err := run.Choose(root, t.device)
	if err != nil {
		return err
	}
	one := talk.Talk{}
	if t.kernels != "own" {
		one.Kernels = t.kernels
	}
	task, err := talker(one.Kernels)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	one.Device, one.Machine = string(devices.Kind), fmt.Sprintf("%d cores, no GPU%s", runtime.NumCPU(), load())
	if devices.Kind == device.CUDA {
		one.Machine = devices.GPU
	}
	one.Command = fmt.Sprintf("make chat DEVICE=%s PROMPT=%q TOKENS=%d", devices.Kind, t.prompt, t.tokens)
	if one.Kernels != "" {
		one.Command = fmt.Sprintf("make chat KERNELS=%s DEVICE=%s PROMPT=%q TOKENS=%d", one.Kernels, devices.Kind, t.prompt, t.tokens)
	}
	args := []string{"-kernels=" + t.kernels, "-model=" + model, "-prompt=" + t.prompt, fmt.Sprint("-tokens=", t.tokens)}
	names := append([]string{""}, talk.Mutants[one.Kernels]...)
	if t.alone {
		names = names[:1]
	}
	for _, name := range names {
		subject, about := run.Solution(root, task), ""
		if name != "" {
			m, err := within(root, task, name)
			if err != nil {
				return err
			}
			subject, about = m.Subject(root), m.About
		}
		said, err := chat(ctx, run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: subject, Devices: devices, Output: filepath.Join(root, "out")}, args)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		said.Mutant, said.About = name, about
		one.Said = append(one.Said, said)
		harmless.Println(strings.TrimSpace(name + "\n" + said.Printed + said.Failed + "\n"))
		if err := talk.Write(file, []talk.Talk{one}); err != nil {
			return err
		}
	}
	return nil
}

// talker is the task whose worker talks on such kernels, which Mutants has names for.
func talker(kernels string) (*rubric.Task, error) {
	switch kernels {
	case "":
		_, tasks, err := allTasks()
		if err != nil {
			return nil, err
		}
		found, err := rubric.Find(tasks, "7")
		if err != nil {
			return nil, err
		}
		return found[0], nil
	case "halves":
		_, task, err := student.InHalves()
		return task, err
	}
	return nil, fmt.Errorf("KERNELS=%s: want own or halves", kernels)
}

// load is how busy the machine is before anything begins: times are to be read beside it.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(data)); err == nil && len(fields) > 0 {
		return ", beside other programs at a load of " + fields[0]
	}
	return ""
}

// chat is what the task's worker prints. Its complaints are the answer, too: only one that does not start is an error.
func chat(ctx context.Context, o run.Options, args []string) (said talk.Said, err error) {
	program, closed, err := run.Program(ctx, o)
	if err != nil {
		return said, err
	}
	defer closed()
	var printed, failed bytes.Buffer
	cmd := program("chat", args...)
	cmd.Stdout, cmd.Stderr = &printed, &failed
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return said, err
	}
	text := strings.ReplaceAll(printed.String(), o.Root+string(os.PathSeparator), "")
	return talk.Said{Printed: text, Failed: strings.TrimSpace(failed.String())}, nil
}
