package gpt2

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/nn/lm"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// Roundings are what the layers' matrices may be rounded to: nothing, or INT4 in groups along the rows of
// [out, in], symmetric or with zeros; each to the nearest or by GPTQ. Token and position tables stay as they are.
var Roundings = []string{"full", "int4", "int4-zeros", "gptq", "gptq-zeros"}

// Calibrates tells whether a rounding needs a text to be calibrated on.
func Calibrates(rounding string) bool { return strings.HasPrefix(rounding, "gptq") }

// rounded are weights some of which have been replaced.
type rounded struct {
	Weights
	matrices map[string][]float32
}

func (r rounded) Read(t Tensor) ([]float32, error) {
	if m, ok := r.matrices[t.Name]; ok {
		return slices.Clone(m), nil
	}
	return r.Weights.Read(t)
}

// Rounded are a model's weights in such a rounding. GPTQ takes the layers in their order, with the inputs that
// the text for calibration makes of the layers before, which are rounded already.
func Rounded(w Weights, rounding string, calibration []int32) (Weights, error) {
	if !slices.Contains(Roundings, rounding) {
		return nil, fmt.Errorf("there is no rounding %q; there is %s", rounding, strings.Join(Roundings, ", "))
	}
	if rounding == "full" {
		return w, nil
	}
	zeros := strings.HasSuffix(rounding, "-zeros")
	back := rounded{w, map[string][]float32{}}
	if Calibrates(rounding) {
		r, err := NewReference(w, nil)
		if err != nil {
			return nil, err
		}
		return back, r.through(calibration, func(name string, x []float32) error {
			m, err := quant.GPTQ(r.weights[name], r.inputs(name), x, zeros)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			back.matrices[name] = m.Numbers()
			r.weights[name] = back.matrices[name]
			return nil
		})
	}
	for _, t := range w.Config().Tensors() {
		if !t.Stored {
			continue
		}
		x, err := w.Read(t)
		if err != nil {
			return nil, err
		}
		m, err := quant.ToINT4(x, t.Shape[1], zeros)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		back.matrices[t.Name] = m.Numbers()
	}
	return back, nil
}

// Lost is how far the layers' matrices are from what they were, and their products with the inputs that a text
// makes in the full model: each relative, as quant.Error has it, and the mean of all matrices.
func Lost(full, rounded Weights, text []int32) (weights, products float64, err error) {
	r, err := NewReference(full, nil)
	if err != nil {
		return 0, 0, err
	}
	to, err := NewReference(rounded, nil)
	if err != nil {
		return 0, 0, err
	}
	matrices := 0
	err = r.through(text, func(name string, x []float32) error {
		was, is, in := r.weights[name], to.weights[name], r.inputs(name)
		weights += quant.Error(was, is)
		products += quant.Error(linear(x, was, nil, in, len(was)/in), linear(x, is, nil, in, len(is)/in))
		matrices++
		return nil
	})
	return weights / float64(matrices), products / float64(matrices), err
}

// inputs is how many a layer's matrix has.
func (r *Reference) inputs(name string) int {
	if strings.HasSuffix(name, DownWeight) {
		return r.config.Inner
	}
	return r.config.Width
}

// through takes a text through the layers, all pieces of it at once, each as long as the model has positions.
func (r *Reference) through(text []int32, before func(name string, x []float32) error) error {
	c := r.config
	if err := lm.CheckText(text, len(text), c.Vocabulary); err != nil {
		return err
	}
	defer func(attend Attend) { r.attend, r.before = attend, nil }(r.attend)
	r.attend, r.before = inPieces(r.attend, c.Positions), before
	x := r.embed(text, 0)
	for layer := range c.Layers {
		if err := r.layer(layer, x); err != nil {
			return err
		}
		r.keys[layer], r.values[layer] = nil, nil // of all pieces; nothing goes on from them
	}
	return nil
}

// inPieces is attention within each piece of so many rows.
func inPieces(attend Attend, size int) Attend {
	return func(q, k, v *tensor.Tensor, heads int, causal bool) (*tensor.Tensor, error) {
		width := q.Shape[2]
		out := tensor.New(q.Shape...)
		for from := 0; from < q.Shape[1]; from += size {
			to := min(from+size, q.Shape[1])
			piece := func(x *tensor.Tensor) *tensor.Tensor { return rows(x.Data[from*width:to*width], width) }
			y, err := attend(piece(q), piece(k), piece(v), heads, causal)
			if err != nil {
				return nil, err
			}
			copy(piece(out).Data, y.Data)
		}
		return out, nil
	}
}
