package task6

// LlamaShape is the size of a Llama-like model, and its constants.
type LlamaShape struct {
	Hidden, Heads, Layers, MLP int
	Rotary, Epsilon            float64
	Tint                       []float32 // every layer's
}

// Llama is the model of package nn/llama, which this one does not look at.
type Llama struct {
	LlamaShape
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

// NewLlama takes the weights in their order: embedding; for each layer the gain
// and bias of a norm, wq, wk, wv, wo, gain and bias, gate, up, down; gain and bias
// of the last norm; head. Matrices are [out, in].
func NewLlama(c LlamaShape, values [][]float32) *Llama {
	take := func() (v []float32) { v, values = values[0], values[1:]; return v }
	m := &Llama{LlamaShape: c, embedding: take()}
	for range c.Layers {
		b := block{norm1: norm{take(), take()}}
		b.attention = Layer{Hidden: c.Hidden, Heads: c.Heads, Dim: c.Hidden / c.Heads, Rotary: c.Rotary, Tint: c.Tint,
			Q: take(), K: take(), V: take(), Out: take()}
		b.norm2 = norm{take(), take()}
		b.gate, b.up, b.down = take(), take(), take()
		m.blocks = append(m.blocks, b)
	}
	m.last = norm{take(), take()}
	m.head = take()
	return m
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
		Add(x, Forward(b.attention, normed(x, b.norm1, m.Epsilon), s))
		h := normed(x, b.norm2, m.Epsilon)
		inner := swiGLU(Linear(h, b.gate, m.Hidden), Linear(h, b.up, m.Hidden))
		Add(x, Linear(inner, b.down, m.MLP))
	}
	return Linear(normed(x[from*m.Hidden:], m.last, m.Epsilon), m.head, m.Hidden)
}

func normed[T Real](x []T, n norm, epsilon float64) []T {
	return LayerNorm(x, n.gain, n.bias, epsilon)
}
