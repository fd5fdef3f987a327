package worker

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/tensor"
)

// Once makes what a task's operations share (a student's compiled kernels) when
// the first of them needs it, and only then.
func Once[T any](make func(device.Queue) (T, error)) *Made[T] { return &Made[T]{make: make} }

// Made remembers what its function made, or why it did not.
type Made[T any] struct {
	make   func(device.Queue) (T, error)
	called bool
	it     T
	failed error
	guard  *guarded // the queue that it was made with
}

// errUnfinished stays if the constructor panics.
var errUnfinished = errors.New("the constructor New did not return")

// Get makes it, or tells what came of that.
func (m *Made[T]) Get(q device.Queue) (T, error) {
	if !m.called {
		m.called, m.failed = true, errUnfinished
		m.guard = &guarded{queue: q}
		m.it, m.failed = m.make(m.guard)
	}
	return m.it, m.failed
}

// OnDevice makes an Op of a function that works on buffers: inputs are put on
// the device, outputs are poisoned before the call and copied back after it.
func OnDevice[T any, B Places | Buffers](m *Made[T], on func(it T, c problem.Problem, out, in B) error) Op {
	call := func(it T, c problem.Problem, out, in Places) error { return on(it, c, view[B](out), view[B](in)) }
	return func(j *Job) (*problem.Answer, error) {
		if j.Timed {
			return nil, m.timed(j, call)
		}
		it, err := m.Get(j.Queue)
		if err != nil {
			return nil, err
		}
		return j.untimed(m.guard, func(out, in Places) error { return call(it, j.Problem, out, in) })
	}
}

// untimed is all of OnDevice that does not depend on a submission's types: it is compiled once, and not
// for each of a worker's operations whenever a worker is built.
func (j *Job) untimed(guard *guarded, call func(out, in Places) error) (*problem.Answer, error) {
	guard.set(false)
	defer guard.set(true)
	in, free, err := upload(j)
	defer free()
	if err != nil {
		return nil, err
	}
	out, free, err := outputs(j, in)
	defer free()
	if err != nil {
		return nil, err
	}
	err = j.answered(call(out, in))
	guard.set(true)
	if err != nil {
		return nil, err
	}
	if err := j.Device.Sync(); err != nil {
		return nil, err
	}
	if what := guard.noted(); what != "" {
		return nil, fmt.Errorf("%s: %w", what, errOutside)
	}
	for i, place := range in {
		if !j.MayChange(i) {
			if err := j.Kept(place, j.input(i)); err != nil {
				return nil, err
			}
		}
	}
	return download(j, out)
}

// timed is OnDevice for a case that is timed: what is made, is made by the first run
// that needs it.
func (m *Made[T]) timed(j *Job, call func(it T, c problem.Problem, out, in Places) error) error {
	ours := func(out, in Places) error {
		it, err := m.Get(j.Queue)
		if err != nil {
			return err
		}
		return call(it, j.Problem, out, in)
	}
	return j.turns(ours, nil, func() *guarded { return m.guard })
}

// Beside serves a timed case that has its own baseline: the course's, which needs
// nothing from the submission.
func (m *Made[T]) Beside(j *Job, call func(it T, out, in Buffers) error, base func(out, in Buffers) error) error {
	return Beside(m, j, call, base)
}

// Beside is the same for either view of a case's tensors.
func Beside[T any, B Places | Buffers](m *Made[T], j *Job, call func(it T, out, in B) error, base func(out, in B) error) error {
	ours := func(out, in Places) error {
		it, err := m.Get(j.Queue)
		if err != nil {
			return err
		}
		return call(it, view[B](out), view[B](in))
	}
	var theirs func(out, in Places) error
	if base != nil {
		theirs = func(out, in Places) error { return base(view[B](out), view[B](in)) }
	}
	return j.turns(ours, theirs, func() *guarded { return m.guard })
}

func upload(j *Job) (in Places, free func(), err error) {
	free = func() { release(j, in) }
	for i, t := range j.Inputs {
		m, err := j.Device.Malloc(t.Name, int64(t.Bytes()))
		if err != nil {
			return in, free, err
		}
		in = append(in, m)
		if err := j.fill(m, j.input(i)); err != nil {
			return in, free, err
		}
	}
	return in, free, nil
}

// input is all of an input, in its type.
func (j *Job) input(i int) remote.Values {
	v := remote.Of(i, 0)
	v.Type = j.Inputs[i].Type
	return v
}

// outputs are poisoned, but for those that are inputs as well.
func outputs(j *Job, in Places) (out Places, free func(), err error) {
	var own Places
	free = func() { release(j, own) }
	for _, t := range j.Outputs {
		if i := slices.IndexFunc(j.Inputs, func(i problem.Tensor) bool { return i.Name == t.Name }); i >= 0 {
			out = append(out, in[i])
			continue
		}
		m, err := j.Device.Malloc(t.Name, int64(t.Bytes()))
		if err != nil {
			return out, free, err
		}
		own, out = append(own, m), append(out, m)
		if err := j.poison(m); err != nil {
			return out, free, err
		}
	}
	return out, free, nil
}

// poison fills memory with NaN, whatever the floats in it are. What an error is to leave unwritten is read all the
// same, so there it must not count as uninitialised.
func (j *Job) poison(m device.Memory) error {
	if j.Refused {
		return j.Device.Set(m, 0xFF)
	}
	return j.Device.Poison(m)
}

// answered looks at what a call returned: of a case that is to be refused an error
// is the right answer, and becomes a count. A stub's is not, nor is a kernel that
// was stopped.
func (j *Job) answered(err error) error {
	if class := wire.ErrorOf(err); !j.Refused || (class != nil && class.Class != wire.Failed) {
		return err
	}
	if j.Counts == nil {
		j.Counts = map[string]uint64{}
	}
	if err != nil {
		j.Counts[problem.Errors] = 1
	}
	return nil
}

func download(j *Job, out Places) (*problem.Answer, error) {
	o := &problem.Answer{Counts: j.Counts}
	for i, m := range out {
		raw := make([]byte, m.Bytes)
		if err := j.Device.CopyOut(raw, m); err != nil {
			return nil, err
		}
		t := j.Outputs[i]
		o.Tensors = append(o.Tensors, &tensor.Tensor{Shape: t.Shape, Data: t.Type.Decode(raw), Type: t.Type})
	}
	return o, nil
}

func release(j *Job, places Places) {
	for _, m := range places {
		_ = j.Device.Free(m)
	}
}
