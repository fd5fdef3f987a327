package supervise

import (
	"fmt"

	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// inputs are those of the case that runs. They go from here to the device, past the
// worker: a submission that reads all of its process finds none of them there, and no
// seed to make them from.
type inputs struct {
	problem problem.Problem
	in      []*tensor.Tensor
}

// Give remembers a case's inputs for the worker that will ask for them.
func (s *Simulator) Give(c problem.Problem, in []*tensor.Tensor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.begin(inputs{c, in})
}

// values are n numbers, as a worker named them.
func (i *inputs) values(v remote.Values, n int) ([]float32, error) {
	x := make([]float32, n)
	switch {
	case v.From < 0:
		return nil, fmt.Errorf("values from %d on: want 0 or more", v.From)
	case v.Input == remote.Random:
		if err := tensor.Fill(x, tensor.Normal, i.problem.Seed, v.Stream, v.From); err != nil {
			return nil, err
		}
	case v.Input < 0 || v.Input >= len(i.in):
		return nil, fmt.Errorf("the case has no input %d", v.Input)
	case v.From > len(i.in[v.Input].Data)-n:
		return nil, fmt.Errorf("input %d has %d values: there are none from %d to %d", v.Input, len(i.in[v.Input].Data), v.From, v.From+n)
	default:
		copy(x, i.in[v.Input].Data[v.From:])
	}
	for k := range x {
		if x[k] *= v.Scale; v.Shift != 0 {
			x[k] += v.Shift
		}
	}
	v.Type.Round(x)
	return x, nil
}
