package worker

import (
	"errors"

	"flashlab/device"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// Buffers are a case's tensors on the device, in the case's order.
type Buffers []device.Buffer[float32]

// Once makes what a task's operations share (a student's compiled kernels) when
// the first of them needs it, and only then.
func Once[T any](make func(device.Queue) (T, error)) *Maker[T] { return &Maker[T]{make: make} }

// Maker remembers what its function made, or why it did not.
type Maker[T any] struct {
	make   func(device.Queue) (T, error)
	called bool
	it     T
	failed error
}

// errUnfinished stays if the constructor panics.
var errUnfinished = errors.New("the constructor New did not return")

// Get makes it, or tells what came of that.
func (m *Maker[T]) Get(q device.Queue) (T, error) {
	if !m.called {
		m.called, m.failed = true, errUnfinished
		m.it, m.failed = m.make(q)
	}
	return m.it, m.failed
}

// OnDevice makes an Op of a function that works on buffers: inputs are put on
// the device, outputs are poisoned before the call and copied back after it.
func OnDevice[T any](m *Maker[T], call func(it T, c wire.Case, out, in Buffers) error) Op {
	return func(j *Job) (*wire.Output, error) {
		it, err := m.Get(j.Queue)
		if err != nil {
			return nil, err
		}
		in, free, err := upload(j)
		defer free()
		if err != nil {
			return nil, err
		}
		out, free, err := poisoned(j)
		defer free()
		if err != nil {
			return nil, err
		}
		if err := call(it, j.Case, out, in); err != nil {
			return nil, err
		}
		if err := j.Device.Sync(); err != nil {
			return nil, err
		}
		return download(j, out)
	}
}

func upload(j *Job) (in Buffers, free func(), err error) {
	free = func() { release(j, in) }
	for i, t := range j.Inputs {
		b, err := device.Upload(j.Device, t.Name, j.In[i].Data)
		if err != nil {
			return in, free, err
		}
		in = append(in, b)
	}
	return in, free, nil
}

func poisoned(j *Job) (out Buffers, free func(), err error) {
	free = func() { release(j, out) }
	for _, t := range j.Outputs {
		b, err := device.Alloc[float32](j.Device, t.Name, tensor.Elements(t.Shape))
		if err != nil {
			return out, free, err
		}
		out = append(out, b)
		if err := j.Device.Poison(b.Memory()); err != nil {
			return out, free, err
		}
	}
	return out, free, nil
}

func download(j *Job, out Buffers) (*wire.Output, error) {
	o := &wire.Output{Counts: j.Counts}
	for i, b := range out {
		values, err := b.CopyOut(j.Device)
		if err != nil {
			return nil, err
		}
		t, err := tensor.Of(values, j.Outputs[i].Shape...)
		if err != nil {
			return nil, err
		}
		o.Tensors = append(o.Tensors, t)
	}
	return o, nil
}

func release(j *Job, buffers Buffers) {
	for _, b := range buffers {
		_ = b.Free(j.Device)
	}
}
