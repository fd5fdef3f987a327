package worker

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

func TestFunctionsOnTensors(t *testing.T) {
	run := func(call func(x *tensor.Tensor) (*tensor.Tensor, error)) error {
		j := &Job{Problem: problem.Problem{Inputs: []problem.Tensor{{Name: "x"}}, Outputs: []problem.Tensor{{Name: "y", Shape: []int{2, 3}}}},
			In: []*tensor.Tensor{tensor.New(2, 3)}}
		out, err := OnTensors("Step", func(_ problem.Problem, in []*tensor.Tensor) (*tensor.Tensor, error) { return call(in[0]) })(j)
		if err == nil {
			require.Len(t, out.Tensors, 1)
		}
		return err
	}
	assert.NoError(t, run(func(*tensor.Tensor) (*tensor.Tensor, error) { return tensor.New(2, 3), nil }))
	for want, call := range map[string]func(x *tensor.Tensor) (*tensor.Tensor, error){
		"Step in attention.go is still the stub": func(*tensor.Tensor) (*tensor.Tensor, error) { return nil, attn.ErrNotImplemented },
		"no luck":                                func(*tensor.Tensor) (*tensor.Tensor, error) { return nil, errors.New("no luck") },
		"returned nil and no error":              func(*tensor.Tensor) (*tensor.Tensor, error) { return nil, nil },
		"shape [3, 2], want [2, 3]":              func(*tensor.Tensor) (*tensor.Tensor, error) { return tensor.New(3, 2), nil },
		"shape [2, 3] with 5 elements, want 6": func(*tensor.Tensor) (*tensor.Tensor, error) {
			return &tensor.Tensor{Shape: []int{2, 3}, Data: make([]float32, 5)}, nil
		},
		"Step changed its argument x: leave it as it": func(x *tensor.Tensor) (*tensor.Tensor, error) { x.Data[5] = 1; return tensor.New(2, 3), nil },
		"Step changed its argument x":                 func(x *tensor.Tensor) (*tensor.Tensor, error) { x.Shape = []int{6}; return tensor.New(2, 3), nil },
	} {
		assert.ErrorContains(t, run(call), want)
	}
	assert.ErrorIs(t, run(func(*tensor.Tensor) (*tensor.Tensor, error) { return nil, attn.ErrNotImplemented }), attn.ErrNotImplemented)
}
