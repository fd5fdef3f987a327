package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

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
	payload, err := encode(given)
	if err != nil {
		return err
	}
	return frame.Write(w, c, payload)
}

// ReadCase reads a case and makes its inputs; those that are withheld are nil.
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
	values, err := decode(payload, given)
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
		if c.Withheld {
			in = append(in, nil)
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

// encode writes arrays, one after another: the type of the elements (its tag, 3 bytes), how
// many dimensions (1), each of them (4), and the elements as a device has them.
func encode(tensors []*tensor.Tensor) ([]byte, error) {
	size := 0
	for _, t := range tensors {
		if len(t.Shape) > math.MaxUint8 || len(t.Data) > tensor.MaxElements {
			return nil, fmt.Errorf("an array %s: want at most %d elements", tensor.ShapeString(t.Shape), tensor.MaxElements)
		}
		size += 4 + 4*len(t.Shape) + t.Type.Bytes(len(t.Data))
	}
	b := make([]byte, 0, size)
	for _, t := range tensors {
		b = append(append(b, t.Type.Tag()...), byte(len(t.Shape)))
		for _, d := range t.Shape {
			b = binary.LittleEndian.AppendUint32(b, uint32(d))
		}
		b = append(b, t.Type.Encode(t.Data)...)
	}
	return b, nil
}

// decode reads arrays of the types and shapes that are wanted, and nothing else.
func decode(payload []byte, want []problem.Tensor) ([]*tensor.Tensor, error) {
	var tensors []*tensor.Tensor
	for _, w := range want {
		t, rest, err := decodeOne(payload, w.Type, w.Shape)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		tensors, payload = append(tensors, t), rest
	}
	if len(payload) > 0 {
		return nil, fmt.Errorf("%d bytes more than the %d tensors that were wanted", len(payload), len(want))
	}
	return tensors, nil
}

// decodeOne compares the array's header with what is wanted and what is there
// before it allocates memory for it.
func decodeOne(b []byte, of tensor.Type, want []int) (*tensor.Tensor, []byte, error) {
	if len(b) < 4 || len(b) < 4+4*int(b[3]) {
		return nil, nil, fmt.Errorf("the array is cut off: %d bytes", len(b))
	}
	if err := of.Check(); err != nil {
		return nil, nil, err
	}
	if kind := string(b[:3]); kind != of.Tag() {
		return nil, nil, fmt.Errorf("elements are %q, want %q (%v)", kind, of.Tag(), of)
	}
	shape, n := make([]int, b[3]), 1
	for i := range shape {
		shape[i] = int(binary.LittleEndian.Uint32(b[4+4*i:]))
	}
	if !slices.Equal(shape, want) {
		return nil, nil, fmt.Errorf("got %s, want %s", tensor.ShapeString(shape), tensor.ShapeString(want))
	}
	for _, d := range shape {
		if d > 0 && n > tensor.MaxElements/d {
			return nil, nil, fmt.Errorf("%s: want at most %d elements", tensor.ShapeString(shape), tensor.MaxElements)
		}
		n *= d
	}
	b = b[4+4*len(shape):]
	bytes := of.Bytes(n)
	if len(b) < bytes {
		return nil, nil, fmt.Errorf("%s is cut off: %d bytes of %d", tensor.ShapeString(shape), len(b), bytes)
	}
	return &tensor.Tensor{Shape: shape, Data: of.Decode(b[:bytes])[:n], Type: of}, b[bytes:], nil
}
