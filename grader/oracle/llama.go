package oracle

import (
	"flashlab/nn/llama"
)

// Llama is the model of package nn/llama, with its weights.
type Llama struct {
	llama.Config
	embedding, head []float32
	blocks          []block
	last            norm
}

type norm struct{ gain, bias []float32 }

type block struct {
	norm1, norm2   norm
	attention      Layer
	gate, up, down []float32
}

// NewLlama makes the weights of a seed.
func NewLlama(c llama.Config, seed uint64) (*Llama, error) {
	var values [][]float32
	for _, w := range c.Weights() {
		v, err := w.Values(seed)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	// In the order of Config.Weights.
	take := func() (v []float32) { v, values = values[0], values[1:]; return v }
	m := &Llama{Config: c, embedding: take()}
	for range c.Layers {
		b := block{norm1: norm{take(), take()}}
		b.attention = Layer{Hidden: c.Hidden, Heads: c.Heads, Dim: c.Dim(), Rotary: llama.Base,
			Q: take(), K: take(), V: take(), Out: take()}
		b.norm2 = norm{take(), take()}
		b.gate, b.up, b.down = take(), take(), take()
		m.blocks = append(m.blocks, b)
	}
	m.last = norm{take(), take()}
	m.head = take()
	return m, nil
}

// Logits computes a whole sequence at once, and gives the logits
// [len(tokens) − from, Vocabulary] of the tokens from that one on.
func Logits[T Real](m *Llama, tokens []int, from int, s Slip) []T {
	x := make([]T, 0, len(tokens)*m.Hidden)
	for _, t := range tokens {
		for _, v := range m.embedding[t*m.Hidden : (t+1)*m.Hidden] {
			x = append(x, T(v))
		}
	}
	for _, b := range m.blocks {
		add(x, Forward(b.attention, normed(x, b.norm1), s))
		h := normed(x, b.norm2)
		inner := swiGLU(linear(h, b.gate, m.Hidden), linear(h, b.up, m.Hidden))
		add(x, linear(inner, b.down, m.MLP))
	}
	return linear(normed(x[from*m.Hidden:], m.last), m.head, m.Hidden)
}

func normed[T Real](x []T, n norm) []T { return layerNorm(x, n.gain, n.bias, llama.Epsilon) }
