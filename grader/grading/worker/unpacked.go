package worker

import (
	"flashlab/device"
	"flashlab/tensor"
)

// unpacked is a projection's product alone, of as many weights in float32 as there are in four bits:
// what one has who reads them offline. Which numbers these are does not change the time.
func (s *timedCase) unpacked(rows, hidden, outputs int) (baseline, error) {
	var all Places
	for i, t := range []struct {
		name string
		n    int
	}{{"the baseline's output", rows * outputs}, {"the baseline's x", rows * hidden}, {"the baseline's weights", outputs * hidden}} {
		m, err := s.malloc(t.name, 4*int64(t.n))
		if err != nil {
			return nil, err
		}
		if all = append(all, m); i == 0 {
			continue
		}
		if err := s.gauge.fill.FillAs(tensor.Float32, m, tensor.Normal, 1, uint32(i)); err != nil {
			return nil, err
		}
	}
	p := device.Dense(1, rows, outputs, hidden, true, 1)
	return func(_, _ Places) (func() error, error) {
		s.now.out = nil // nothing is written there
		return func() error { return s.bench.Multiply(all[0], all[1], all[2], p) }, nil
	}, nil
}
