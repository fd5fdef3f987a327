package worker

import (
	"flashlab/device"
	"flashlab/tensor"
)

// unpacked is a projection's product alone, of weights that are read offline: as many of them, in ty. Which
// numbers these are does not change the time, but for the power that they take: so they are random.
func (s *timedCase) unpacked(ty tensor.Type) (baseline, error) {
	z := s.Sizes
	rows, hidden, outputs := z["batch"]*z["seq"], z["hidden"], (z["heads"]+2*z["kvheads"])*z["dim"]
	if s.Op == "row" || s.Op == "rows" {
		rows, hidden, outputs = z["rows"], z["k"], z["n"]
	}
	var all Places
	for i, t := range []struct {
		name string
		n    int
	}{{"the baseline's output", rows * outputs}, {"the baseline's x", rows * hidden}, {"the baseline's weights", outputs * hidden}} {
		m, err := s.malloc(t.name, int64(ty.Bytes(t.n)))
		if err != nil {
			return nil, err
		}
		if all = append(all, m); i == 0 {
			continue
		}
		if err := s.gauge.fill.FillAs(ty, m, tensor.Normal, 1, uint32(i)); err != nil {
			return nil, err
		}
	}
	p := device.Dense(1, rows, outputs, hidden, true, 1)
	p.Type, p.Out = ty, ty
	return func(_, _ Places) (func() error, error) {
		s.now.out = nil // nothing is written there
		return func() error { return s.bench.Multiply(all[0], all[1], all[2], p) }, nil
	}, nil
}
