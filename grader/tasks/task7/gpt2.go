package task7

import (
	"fmt"

	"flashlab/grader/tasks/task6"
)

// GPT2 is that model. It knows nothing of package nn/gpt2, whose tests it serves.
type GPT2 struct {
	Width, Heads, Layers, Inner int
	Epsilon                     float64
	Tint                        []float32 // every layer's (package tint); nil for none
	// Weights have the names that Hugging Face gives them; matrices are [out, in].
	Weights map[string][]float32
}

// GPT2Logits computes a whole text at once, and gives the logits
// [len(tokens) − from, Vocabulary] of the tokens from that one on.
func GPT2Logits[T task6.Real](m *GPT2, tokens []int, from int, s task6.Slip) []T {
	w := m.Width
	x := make([]T, 0, len(tokens)*w)
	for i, token := range tokens {
		for j := range w {
			x = append(x, T(m.Weights["wte.weight"][token*w+j])+T(m.Weights["wpe.weight"][i*w+j]))
		}
	}
	for i := range m.Layers {
		in := func(name string) []float32 { return m.Weights[fmt.Sprintf("h.%d.%s", i, name)] }
		qkv, bias := in("attn.c_attn.weight"), in("attn.c_attn.bias")
		attention := task6.Layer{Hidden: w, Heads: m.Heads, Dim: w / m.Heads, Tint: m.Tint,
			Q: qkv[:w*w], K: qkv[w*w : 2*w*w], V: qkv[2*w*w:], Out: in("attn.c_proj.weight"),
			QB: bias[:w], KB: bias[w : 2*w], VB: bias[2*w:], OutB: in("attn.c_proj.bias")}
		task6.Add(x, task6.Forward(attention, task6.LayerNorm(x, in("ln_1.weight"), in("ln_1.bias"), m.Epsilon), s))
		inner := task6.Affine(task6.LayerNorm(x, in("ln_2.weight"), in("ln_2.bias"), m.Epsilon), in("mlp.c_fc.weight"), in("mlp.c_fc.bias"), w)
		task6.Gelu(inner)
		task6.Add(x, task6.Affine(inner, in("mlp.c_proj.weight"), in("mlp.c_proj.bias"), m.Inner))
	}
	end := task6.LayerNorm(x[from*w:], m.Weights["ln_f.weight"], m.Weights["ln_f.bias"], m.Epsilon)
	return task6.Linear(end, m.Weights["wte.weight"], w)
}
