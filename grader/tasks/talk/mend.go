package talk

import (
	"errors"
	"fmt"

	"flashlab/attn"
)

// Task is one that a model runs on.
type Task struct {
	Name, Dir string
	Inside    bool // the layer of task 6 calls it
}

// mending is an error of one task's code: it says which to mend.
type mending struct {
	task Task
	err  error
}

func (m *mending) Unwrap() error { return m.err }

func (m *mending) Error() string {
	if errors.Is(m.err, attn.ErrNotImplemented) {
		return fmt.Sprintf("%s is still the stub (%v), and the model runs on it: finish it first (make grade TASK=%s)", m.task.Dir, attn.ErrNotImplemented, m.task.Name)
	}
	where := m.task.Dir
	if m.task.Inside {
		where += ", as the layer of task6_e2e calls it"
	}
	return fmt.Sprintf("%s: %v (make grade TASK=%s tests it on its own)", where, m.err, m.task.Name)
}

// Mend names the task that an error is of, unless it is named already: the layer passes on what the kernels say.
func Mend(t Task, err error) error {
	var named *mending
	if err == nil || errors.As(err, &named) {
		return err
	}
	return &mending{t, err}
}

// Advice tells what to do without the kernels.
func Advice(err error) error {
	if errors.Is(err, attn.ErrNotImplemented) {
		return fmt.Errorf("%w, or set KERNELS=given to run the course's own kernels", err)
	}
	return err
}
