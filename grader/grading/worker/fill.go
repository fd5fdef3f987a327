package worker

import (
	"errors"
	"fmt"

	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/tensor"
)

// giver is a device that the grader fills. It alone has a case's inputs then: nothing
// that the submission finds in this process tells of them.
type giver interface {
	Give(m device.Memory, v remote.Values) error
}

var errNoGiver = errors.New("the inputs are withheld, and this device cannot be filled with them")

// Fill puts some of a case's numbers into a buffer.
func (j *Job) Fill(b device.Buffer[float32], v remote.Values) error {
	return j.fill(b.Memory(), v)
}

// FillMemory is Fill for elements of any type, which the values name.
func (j *Job) FillMemory(m device.Memory, v remote.Values) error { return j.fill(m, v) }

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

// Kept returns an error if memory no longer has the numbers that it was filled with. It looks where
// this process drives the device; where the grader does, the grader looks by itself.
func (j *Job) Kept(m device.Memory, v remote.Values) error {
	if j.Withheld {
		return nil
	}
	given, err := j.own(v, v.Type.Elements(int(m.Bytes)))
	if err != nil {
		return err
	}
	held := make([]byte, m.Bytes)
	if err := j.Device.CopyOut(held, m); err != nil {
		return err
	}
	if what := j.Inputs[v.Input].Changed(held, v.Type.Encode(given), v.From); what != "" {
		return fmt.Errorf("the call changed its input %s: inputs must stay as they are", what)
	}
	return nil
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
