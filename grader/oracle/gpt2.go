package oracle

import "flashlab/nn/gpt2"

// GPT2 is the model of package nn/gpt2, with its weights.
type GPT2 struct {
	gpt2.Config
	weights map[string][]float32
}

// NewGPT2 reads the weights.
func NewGPT2(w gpt2.Weights) (*GPT2, error) {
	m := &GPT2{w.Config(), map[string][]float32{}}
	for _, t := range m.Tensors() {
		values, err := w.Read(t)
		if err != nil {
			return nil, err
		}
		m.weights[t.Name] = values
	}
	return m, nil
}

// GPT2Logits computes a whole text at once, and gives the logits
// [len(tokens) − from, Vocabulary] of the tokens from that one on.
func GPT2Logits[T Real](m *GPT2, tokens []int, from int, s Slip) []T {
	w := m.Width
	x := make([]T, 0, len(tokens)*w)
	for i, token := range tokens {
		for j := range w {
			x = append(x, T(m.weights[gpt2.TokenTable][token*w+j])+T(m.weights[gpt2.PositionTable][i*w+j]))
		}
	}
	for i := range m.Layers {
		in := func(name string) []float32 { return m.weights[gpt2.InLayer(i, name)] }
		qkv, bias := in(gpt2.QKVWeight), in(gpt2.QKVBias)
		attention := Layer{Hidden: w, Heads: m.Heads, Dim: m.Dim(),
			Q: qkv[:w*w], K: qkv[w*w : 2*w*w], V: qkv[2*w*w:], Out: in(gpt2.OutWeight),
			QB: bias[:w], KB: bias[w : 2*w], VB: bias[2*w:], OutB: in(gpt2.OutBias)}
		add(x, Forward(attention, layerNorm(x, in(gpt2.Gain1), in(gpt2.Bias1), m.Epsilon), s))
		inner := affine(layerNorm(x, in(gpt2.Gain2), in(gpt2.Bias2), m.Epsilon), in(gpt2.UpWeight), in(gpt2.UpBias), w)
		gelu(inner)
		add(x, affine(inner, in(gpt2.DownWeight), in(gpt2.DownBias), m.Inner))
	}
	end := layerNorm(x[from*w:], m.weights[gpt2.FinalGain], m.weights[gpt2.FinalBias], m.Epsilon)
	return linear(end, m.weights[gpt2.TokenTable], w)
}
