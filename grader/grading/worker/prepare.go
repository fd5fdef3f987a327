package worker

import (
	"errors"
	"slices"

	"flashlab/device"
	"flashlab/grader/grading/wire"
)

// prepare allocates all of a timed case, and finds out what can be measured.
func (s *timedCase) prepare() (err error) {
	d := s.Device
	s.ready.Device = d.Info()
	s.bench, _ = d.(device.Bench)
	if s.gauge, err = newGauge(d); err != nil {
		return err
	}
	if err := s.clock(); err != nil {
		return err
	}
	if s.bench != nil {
		if s.ready.Free, err = s.bench.FreeMemory(); err != nil {
			return err
		}
		if s.ready.Limits, err = s.bench.Limits(); err != nil {
			return err
		}
		// Twice the cache: then nothing of what was there before is left.
		most := max(2*s.ready.Limits.L2, 128<<20)
		if s.flush, err = s.malloc("what fills the cache", most); err != nil {
			return err
		}
		if s.clean, err = s.malloc("what cleans the cache", most); err != nil {
			return err
		}
		if err := d.Set(s.clean, 0); err != nil {
			return err
		}
		s.ready.Reads = min(mostRead, s.ready.Free/16) &^ 255
	}
	if s.in, err = s.arenas(s.Inputs); err != nil {
		return err
	}
	if s.out, err = s.arenas(s.Outputs); err != nil {
		return err
	}
	s.base, err = s.findBaseline()
	if err != nil && !errors.Is(err, device.ErrOutOfMemory) {
		s.ready.NoBaseline = err.Error()
		return nil
	}
	return err
}

// mostRead is what reading alone reads: so much that starting it is nothing beside it.
const mostRead = 1 << 30

// clock makes the events, where the device keeps time.
func (s *timedCase) clock() (err error) {
	for i := range s.events {
		if s.events[i], err = s.Device.NewEvent(); errors.Is(err, device.ErrNoClock) {
			s.events[i] = nil
			return nil
		}
		if err != nil {
			return err
		}
	}
	s.ready.Clock = true
	return nil
}

// self is work whose size is known.
func (s *timedCase) self(who wire.Who, p placed) (func() error, error) {
	if s.bench == nil {
		return nil, device.ErrNoClock
	}
	switch who {
	case wire.Adding:
		return func() error { return s.gauge.multiplyAdd(s.ready.Device.Processors) }, nil
	case wire.Tensors:
		return s.gauge.tensorProducts(wire.TensorRounds)
	case wire.Reading:
		return s.reading()
	}
	from, to, err := p.twins()
	if err != nil {
		return nil, err
	}
	return func() error { return s.bench.Copy(to, from) }, nil
}

// reading reads zeros, which nobody writes again.
func (s *timedCase) reading() (func() error, error) {
	if s.zeros.Bytes == 0 {
		var err error
		if s.zeros, err = s.malloc("what is read", s.ready.Reads); err != nil {
			return nil, err
		}
		if err := s.Device.Set(s.zeros, 0); err != nil {
			return nil, err
		}
	}
	return func() error { return s.gauge.read(s.zeros) }, nil
}

// twins are the two largest buffers of the same size.
func (p placed) twins() (from, to device.Memory, err error) {
	all := slices.Concat(p.in, p.out)
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.Bytes == b.Bytes && a.Bytes > from.Bytes {
				from, to = a, b
			}
		}
	}
	if from.Bytes == 0 {
		err = errors.New("a copy is timed where two tensors are equally large")
	}
	return from, to, err
}
