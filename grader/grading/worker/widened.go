package worker

import (
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// widened is the unfused way for tensors of 16 bits: float32 copies of the inputs, unfused attention
// of these, and its output rounded. All of it is timed. Beside the products of a whole attention the
// copies are little; of a step of decoding they are half.
func (s *timedCase) widened(way func() (baseline, error)) (baseline, error) {
	var wide Places
	for _, t := range append([]problem.Tensor{s.Outputs[0]}, s.Inputs...) {
		m, err := s.malloc("the baseline's "+t.Name, int64(tensor.Float32.Bytes(t.Elements())))
		if err != nil {
			return nil, err
		}
		wide = append(wide, m)
	}
	unfused, err := way()
	if err != nil {
		return nil, err
	}
	run, err := unfused(wide[:1], wide[1:])
	if err != nil {
		return nil, err
	}
	return s.besideCodes(func(out, in Places) (func() error, error) {
		return func() error {
			for i, t := range s.Inputs {
				if err := s.gauge.convert(s.gauge.widen, wide[1+i], in[i], t); err != nil {
					return err
				}
			}
			if err := run(); err != nil {
				return err
			}
			return s.gauge.convert(s.gauge.narrow, out[0], wide[0], s.Outputs[0])
		}, nil
	}, nil)
}

// besideCodes is a way that writes the first output alone. The others, which are a submission's codes and their
// scales, are zeros.
func (s *timedCase) besideCodes(way baseline, err error) (baseline, error) {
	if err != nil {
		return nil, err
	}
	return func(out, in Places) (func() error, error) {
		for _, m := range out[1:] {
			if err := s.Device.Set(m, 0); err != nil {
				return nil, err
			}
		}
		return way(out, in)
	}, nil
}

// convert launches widen or narrow on all of a tensor of 16 bits.
func (g *gauge) convert(k device.Kernel, to, from device.Memory, t problem.Tensor) error {
	var b [2]device.Buffer[uint8]
	var float device.Buffer[float32]
	var err error
	for i, m := range []device.Memory{to, from} {
		if b[i], err = device.BufferOf[uint8](m); err != nil {
			return err
		}
	}
	n, brain := t.Elements(), t.Type == tensor.BFloat16
	l := device.Launch{Grid: device.D1(min((n+gaugeBlock-1)/gaugeBlock, 16*g.d.Info().Processors)), Block: device.D1(gaugeBlock)}
	if k == g.widen {
		if float, err = device.BufferOf[float32](to); err != nil {
			return err
		}
		return g.d.Launch(k, l, float, b[1], n, brain)
	}
	if float, err = device.BufferOf[float32](from); err != nil {
		return err
	}
	return g.d.Launch(k, l, b[0], float, n, brain)
}
