package gpt2

import (
	"flashlab/device"
	"flashlab/nn"
)

// PoisonStep fills whatever a step as one kernel writes anew with NaN that nobody has written. What has tags stays: a
// number with an old tag is as good as none.
func (m *Model) PoisonStep() error {
	one := m.other.(*oneKernel)
	for _, b := range []device.Memory{m.logits.Memory(), one.best.Memory(), one.bestAt.Memory()} {
		if err := m.device.Poison(b); err != nil {
			return err
		}
	}
	return nil
}

// CacheOf is a layer's keys and values.
func (m *Model) CacheOf(layer int) []nn.Floats {
	return []nn.Floats{m.cache[layer].K, m.cache[layer].V}
}

// InHalves are weights whose matrices hold numbers that halves have.
type InHalves struct{ Weights }

func (w InHalves) Read(t Tensor) ([]float32, error) {
	values, err := w.Weights.Read(t)
	if t.Stored || t.Name == TokenTable {
		for i, v := range values {
			values[i] = device.ToFloat16(v).Float32()
		}
	}
	return values, err
}
