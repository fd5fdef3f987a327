package gpt2

import (
	"flashlab/device"
	"flashlab/nn"
)

// PoisonStep fills whatever a step as one kernel writes anew with NaN that nobody has written. What has tags stays: a
// number with an old tag is as good as none.
func (m *Model) PoisonStep() error {
	one := m.other.(*persistent)
	memory := []device.Memory{m.logits.Memory(), one.bestAt.Memory()}
	for _, b := range one.floats {
		memory = append(memory, b.Memory())
	}
	for _, b := range memory {
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
