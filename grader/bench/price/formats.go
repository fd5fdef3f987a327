// Package price measures what each format of the course costs a trained Llama: perplexity on a text, tokens that come
// out otherwise, memory, and answers to questions. It is plain Go, and needs no GPU.
package price

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/nn/llama3"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// Format is what a model's cache and the matrices of its layers are kept in. All else is in halves.
type Format struct {
	Name    string
	Cache   string // one of quant.Caches
	Weights string // one of llama3.Formats, gptq or gptq-zeros; "" for halves
	Unbegun bool   // the pieces that GPTQ is shown lack the token that texts begin with
}

// Formats are the course's. The first is what the others are compared with; those that take longest come last.
var Formats = []Format{
	{Name: "halves", Cache: "halves"},
	{Name: "cache INT8", Cache: "int8"},
	{Name: "cache INT4", Cache: "int4"},
	{Name: "cache KIVI", Cache: "kivi"},
	{Name: "INT4", Cache: "halves", Weights: "int4"},
	{Name: "INT4, zeros", Cache: "halves", Weights: "int4-zeros"},
	{Name: "NF4", Cache: "halves", Weights: "nf4"},
	{Name: "NF4, double", Cache: "halves", Weights: "nf4-double"},
	{Name: "MXFP4", Cache: "halves", Weights: "mxfp4"},
	{Name: "NVFP4", Cache: "halves", Weights: "nvfp4"},
	{Name: "KIVI and INT4, zeros", Cache: "kivi", Weights: "int4-zeros"},
	{Name: "GPTQ", Cache: "halves", Weights: "gptq"},
	{Name: "GPTQ, zeros", Cache: "halves", Weights: "gptq-zeros"},
	{Name: "GPTQ, zeros, no begin token", Cache: "halves", Weights: "gptq-zeros", Unbegun: true},
}

// halves rounds all weights of a model.
func halves(m *llama3.Reference) error {
	for _, t := range m.Config().Tensors() {
		x := slices.Clone(m.Weight(t))
		tensor.Float16.Round(x)
		if err := m.Replace(t, x); err != nil {
			return err
		}
	}
	return nil
}

// in makes a model in a format of one in halves, and says how many bytes its weights have. GPTQ rounds for the texts
// that it is shown.
func (f Format) in(base *llama3.Reference, work Work) (*llama3.Reference, int, error) {
	m, err := base.Fork(f.Cache)
	if err != nil {
		return nil, 0, err
	}
	bytes := 2 * m.Config().Parameters()
	put := func(t llama3.Tensor, e llama3.Encoded, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		bytes += e.Bytes() - 2*t.Elements()
		return m.Replace(t, e.Numbers())
	}
	matrices, shown := m.Config().InLayers(), work.Shown
	switch {
	case f.Weights == "":
		return m, bytes, nil
	case f.Weights != "gptq" && f.Weights != "gptq-zeros":
		for _, t := range matrices {
			e, err := llama3.Encode(f.Weights, m.Weight(t), t.Shape[1])
			if err := put(t, e, err); err != nil {
				return nil, 0, err
			}
		}
		return m, bytes, nil
	case len(shown) == 0:
		return nil, 0, errors.New("the text is too short: no piece is left for GPTQ to round for")
	}
	if f.Unbegun {
		if work.Begin < 0 {
			return nil, 0, fmt.Errorf("no text begins with a token of its own here: the row would be that of %s again", f.Weights)
		}
		shown = slices.Clone(shown)
		for i, text := range shown {
			shown[i] = text[1:]
		}
	}
	at := map[string]llama3.Tensor{}
	for _, t := range matrices {
		at[t.Name] = t
	}
	var seen []float32 // what the last matrix was shown: q, k and v have the same inputs, gate and up as well
	var known quant.Shown
	err = m.Through(shown, func(name string, x []float32) error {
		t := at[name]
		if len(seen) == 0 || &seen[0] != &x[0] {
			var err error
			if known, err = quant.Show(x, t.Shape[1]); err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			seen = x
		}
		e, err := known.GPTQ(m.Weight(t), f.Weights == "gptq-zeros")
		return put(t, e, err)
	})
	return m, bytes, err
}

// cacheBytes are what a token's keys and values take in all layers, once its group is closed.
func (f Format) cacheBytes(c llama3.Config) float64 {
	numbers, heads := float64(c.Layers*c.KVHeads*c.Dim), float64(c.Layers*c.KVHeads)
	const half = 2
	switch f.Cache {
	case "int8":
		return 2 * (numbers + half*heads)
	case "int4":
		return 2 * (numbers/2 + 2*half*heads)
	case "kivi": // a scale and a low for each channel of k and group, and for each token of v
		return numbers/2 + 2*half*numbers/quant.CacheGroup + numbers/2 + 2*half*heads
	}
	return 2 * half * numbers
}
