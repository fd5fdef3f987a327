package worker

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/tensor"
)

// giver is a device that the grader fills. It alone has a case's inputs then: nothing
// that the submission finds in this process tells of them.
type giver interface {
	Give(m device.Memory, v remote.Values) error
	Holds(m device.Memory, v remote.Values) (bool, error)
}

var errNoGiver = errors.New("the inputs are withheld, and this device cannot be filled with them")

// Fill puts some of a case's numbers into a buffer.
func (j *Job) Fill(b device.Buffer[float32], v remote.Values) error {
	return j.fill(b.Memory(), v)
}

// fill is Fill for elements of any type.
func (j *Job) fill(m device.Memory, v remote.Values) error {
	if j.Withheld {
		if g, ok := j.Device.(giver); ok {
			return g.Give(m, v)
		}
		return errNoGiver
	}
	values, err := j.own(v, v.Type.Elements(int(m.Bytes)))
	if err != nil {
		return err
	}
	return j.Device.CopyIn(m, v.Type.Encode(values))
}

// Holds tells whether a buffer still has the numbers that it was filled with.
func (j *Job) Holds(b device.Buffer[float32], v remote.Values) (bool, error) {
	if j.Withheld {
		if g, ok := j.Device.(giver); ok {
			return g.Holds(b.Memory(), v)
		}
		return false, errNoGiver
	}
	want, err := j.own(v, b.Len())
	if err != nil {
		return false, err
	}
	got, err := b.CopyOut(j.Device)
	return slices.Equal(got, want), err
}

// own are the same numbers where they are in this process.
func (j *Job) own(v remote.Values, n int) ([]float32, error) {
	x := make([]float32, n)
	if v.Input == remote.Random {
		if err := tensor.Fill(x, tensor.Normal, j.Seed, v.Stream, v.From); err != nil {
			return nil, err
		}
	} else if copy(x, j.In[v.Input].Data[v.From:]) < n {
		return nil, fmt.Errorf("%s: there are no %d values from %d on", j.Inputs[v.Input].Name, n, v.From)
	}
	for i := range x {
		if x[i] *= v.Scale; v.Shift != 0 {
			x[i] += v.Shift
		}
	}
	return x, nil
}
