package gpt2

import "flashlab/nn"

// Filler are weights that put themselves on the device.
type Filler interface {
	Fill(to nn.Floats, t Tensor) error
}

func (m *Model) load(w Weights, t Tensor) error {
	if f, ok := w.(Filler); ok {
		return f.Fill(m.weights[t.Name], t)
	}
	values, err := w.Read(t)
	if err != nil {
		return err
	}
	return m.weights[t.Name].CopyIn(m.queue, values)
}
