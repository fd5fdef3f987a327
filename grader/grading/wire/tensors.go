package wire

import (
	"bytes"
	"fmt"
	"io"

	"flashlab/grader/grading/problem"
	"flashlab/internal/frame"
	"flashlab/tensor"
)

// WriteCase sends a case. The values of its given inputs go with it.
func WriteCase(w io.Writer, c problem.Problem, in []*tensor.Tensor) error {
	var given []*tensor.Tensor
	for i, t := range c.Inputs {
		if t.Given {
			given = append(given, in[i])
		}
	}
	payload, err := pack(given)
	if err != nil {
		return err
	}
	return frame.Write(w, c, payload)
}

// ReadCase reads a case and makes its inputs.
func ReadCase(r io.Reader) (problem.Problem, []*tensor.Tensor, error) {
	var c problem.Problem
	payload, err := frame.Read(r, &c)
	if err != nil {
		return c, nil, err
	}
	var given []problem.Tensor
	for _, t := range c.Inputs {
		if t.Given {
			given = append(given, t)
		}
	}
	values, err := unpack(payload, given)
	if err != nil {
		return c, nil, err
	}
	if c.Timed { // its inputs are made on the device
		return c, nil, nil
	}
	var in []*tensor.Tensor
	for _, t := range c.Inputs {
		if t.Given {
			in, values = append(in, values[0]), values[1:]
			continue
		}
		x, err := t.Random(c.Seed)
		if err != nil {
			return c, nil, err
		}
		in = append(in, x)
	}
	return c, in, nil
}

// pack writes tensors as .npy, one after another.
func pack(tensors []*tensor.Tensor) ([]byte, error) {
	var b bytes.Buffer
	for _, t := range tensors {
		if err := tensor.WriteNPY(&b, t); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// unpack reads tensors of the shapes that are wanted, and nothing else.
func unpack(payload []byte, want []problem.Tensor) ([]*tensor.Tensor, error) {
	r := bytes.NewReader(payload)
	var tensors []*tensor.Tensor
	for _, w := range want {
		t, err := tensor.ReadNPY(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		if tensor.ShapeString(t.Shape) != tensor.ShapeString(w.Shape) {
			return nil, fmt.Errorf("%s is %s, want %s", w.Name, tensor.ShapeString(t.Shape), tensor.ShapeString(w.Shape))
		}
		tensors = append(tensors, t)
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("%d bytes more than the %d tensors that were wanted", r.Len(), len(want))
	}
	return tensors, nil
}
