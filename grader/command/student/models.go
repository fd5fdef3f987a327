package student

import (
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"flashlab/grader/command"
	pace "flashlab/grader/tasks/task6/asked"
	write "flashlab/grader/tasks/task7/asked"
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

// E2E measures task 6's model.
func E2E(course *Course) command.Command {
	return command.Command{Name: "e2e", Summary: "time task 6's model on your kernels", Define: func(f *flag.FlagSet) command.Run {
		m := model{whose: whose{course: course}}
		m.define(f)
		f.StringVar(&m.kernels, "kernels", "own", "own, or `given`: the course's kernels, with your layer on them")
		for _, one := range pace.Flags {
			command.Pass(f, &m.passed, one.Name, one.Usage)
		}
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
		for _, one := range write.Flags {
			switch one.Name {
			case "weights":
				f.StringVar(&weights, one.Name, "", one.Usage)
			case "calibration":
				f.StringVar(&calibration, one.Name, "", one.Usage)
			default:
				f.Var(&command.Passed{Name: one.Name, To: &m.passed, Blank: one.Name == "prompt", On: one.Name == "ref"}, one.Name, one.Usage)
			}
		}
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
