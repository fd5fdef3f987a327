package worker

import (
	"errors"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// softmax runs cases on a student's Softmaxer.
type softmax struct {
	make func(device.Queue) (attn.Softmaxer, error)

	made   bool // make is called once, whatever comes of it
	it     attn.Softmaxer
	failed error
}

// errUnfinished stays if the constructor panics.
var errUnfinished = errors.New("the constructor New did not return")

// Softmax makes an Op of a task's constructor.
func Softmax(make func(device.Queue) (attn.Softmaxer, error)) Op {
	return &softmax{make: make}
}

func (s *softmax) Run(d device.Device, q device.Queue, c wire.Case) (*tensor.Tensor, error) {
	if !s.made {
		s.made = true
		s.failed = errUnfinished
		s.it, s.failed = s.make(q)
	}
	if s.failed != nil {
		return nil, s.failed
	}
	shape := attn.SoftmaxShape{Outer: c.Shape[0], Len: c.Shape[1], Inner: c.Shape[2]}
	x, err := tensor.Random(c.Dist, c.Seed, c.Stream, c.Shape...)
	if err != nil {
		return nil, err
	}
	src, err := device.Upload(d, "x", x.Data)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Free(d) }()
	dst, err := device.Alloc[float32](d, "y", len(x.Data))
	if err != nil {
		return nil, err
	}
	defer func() { _ = dst.Free(d) }()
	if err := d.Poison(dst.Memory()); err != nil {
		return nil, err
	}
	if err := s.it.Softmax(dst, src, shape); err != nil {
		return nil, err
	}
	if err := d.Sync(); err != nil {
		return nil, err
	}
	y, err := dst.CopyOut(d)
	if err != nil {
		return nil, err
	}
	return tensor.Of(y, c.Shape...)
}
