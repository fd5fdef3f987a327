package llama

import (
	"fmt"
	"math"

	"flashlab/tensor"
)

// Weight is one matrix [Rows, Columns], or a vector with Rows = 1. Its values
// are Base + Scale × the normal distribution, from the seed and its own stream.
type Weight struct {
	Name          string
	Rows, Columns int
	Base, Scale   float32
	Stream        uint32
}

// deviation is the standard deviation of tensor.Normal.
const deviation = 1.1547

// Weights lists a model's weights in the order of their streams. Matrices keep
// the size of what passes through; those that add to the residual are smaller,
// so that it does not grow with the number of layers.
func (c Config) Weights() []Weight {
	var all []Weight
	add := func(name string, rows, columns int, base, scale float64) {
		all = append(all, Weight{name, rows, columns, float32(base), float32(scale), uint32(len(all) + 1)})
	}
	matrix := func(name string, rows, columns int, gain float64) {
		add(name, rows, columns, 0, gain/(deviation*math.Sqrt(float64(columns))))
	}
	norm := func(name string) {
		add(name+".gain", 1, c.Hidden, 1, 0.1)
		add(name+".bias", 1, c.Hidden, 0, 0.1)
	}
	residual := 1 / math.Sqrt(2*float64(c.Layers))
	add("embedding", c.Vocabulary, c.Hidden, 0, 1/deviation)
	for l := range c.Layers {
		in := func(name string) string { return fmt.Sprintf("layer %d %s", l, name) }
		norm(in("attention norm"))
		matrix(in("wq"), c.Hidden, c.Hidden, 1)
		matrix(in("wk"), c.Hidden, c.Hidden, 1)
		matrix(in("wv"), c.Hidden, c.Hidden, 1)
		matrix(in("wo"), c.Hidden, c.Hidden, residual)
		norm(in("mlp norm"))
		matrix(in("gate"), c.MLP, c.Hidden, 1)
		matrix(in("up"), c.MLP, c.Hidden, 1)
		matrix(in("down"), c.Hidden, c.MLP, residual)
	}
	norm("last norm")
	matrix("head", c.Vocabulary, c.Hidden, 1)
	return all
}

// Values computes a weight on this machine's processor, with the same bits as
// on a device.
func (w Weight) Values(seed uint64) ([]float32, error) {
	values := make([]float32, w.Rows*w.Columns)
	if err := tensor.Fill(values, tensor.Normal, seed, w.Stream, 0); err != nil {
		return nil, err
	}
	for i := range values {
		values[i] *= w.Scale
		if w.Base != 0 {
			values[i] += w.Base
		}
	}
	return values, nil
}
