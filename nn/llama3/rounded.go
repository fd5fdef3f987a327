package llama3

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"flashlab/nn/lm"
	"flashlab/tensor/quant"
)

// Fork is the same model with a text of its own, whose keys and values are read back from such a cache: one of
// quant.Caches, or "" for float32. What Replace changes of it, the other keeps.
func (r *Reference) Fork(cache string) (*Reference, error) {
	if cache != "" && !slices.Contains(quant.Caches, cache) {
		return nil, fmt.Errorf("there is no cache %q; there is %s", cache, strings.Join(quant.Caches, ", "))
	}
	f := &Reference{config: r.config, weights: maps.Clone(r.weights), turns: r.turns, cache: cache}
	f.Reset()
	return f, nil
}

// Weight is what the model has by this name; it must not be changed.
func (r *Reference) Weight(t Tensor) []float32 { return r.weights[t.Name] }

// Replace puts other numbers in a weight's place.
func (r *Reference) Replace(t Tensor, x []float32) error {
	if len(x) != t.Elements() || len(r.weights[t.Name]) != len(x) {
		return fmt.Errorf("%d numbers for the weight %s, which has %d", len(x), t.Name, len(r.weights[t.Name]))
	}
	r.weights[t.Name] = x
	return nil
}

// Through takes texts through the layers, all at once. Before each product with a layer's matrix, see is told the
// matrix's name and the inputs x [rows, in] of all texts. It may replace the matrix: the product is of that.
func (r *Reference) Through(texts [][]int32, see func(name string, x []float32) error) error {
	c := r.config
	var x []float32
	var pieces []int
	for _, text := range texts {
		if err := lm.CheckText(text, c.Positions, c.Vocabulary); err != nil {
			return err
		}
		x, pieces = append(x, r.embed(text)...), append(pieces, len(text))
	}
	r.see = see
	defer func() { r.see = nil }()
	for layer := range c.Layers {
		if err := r.layer(layer, x, pieces); err != nil {
			return err
		}
	}
	return nil
}

// InLayers are the matrices of all layers: what formats of four bits are for.
func (c Config) InLayers() (all []Tensor) {
	for _, t := range c.Tensors() {
		if len(t.Shape) == 2 && t.Name != TokenTable && t.Name != Head {
			all = append(all, t)
		}
	}
	return all
}
