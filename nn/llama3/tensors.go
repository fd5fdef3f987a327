package llama3

import (
	"fmt"

	"flashlab/tensor"
)

// Tensor is one of a model's weights.
type Tensor struct {
	Name  string // as Hugging Face calls it: "model.layers.0.self_attn.q_proj.weight"
	Shape []int  // a matrix is [out, in]
}

// Elements is the number of values.
func (t Tensor) Elements() int { return tensor.Elements(t.Shape) }

// Names of the weights outside the layers.
const (
	TokenTable = "model.embed_tokens.weight" // [Vocabulary, Width]
	FinalGain  = "model.norm.weight"
	Head       = "lm_head.weight" // [Vocabulary, Width]; a tied model has none
)

// Names of a layer's weights, behind "model.layers.0.". Each matrix has a bias, ".bias" in
// place of ".weight", in models that ask for it.
const (
	Gain1 = "input_layernorm.weight"
	Gain2 = "post_attention_layernorm.weight"
	Q     = "self_attn.q_proj" // [Heads × Dim, Width]
	K     = "self_attn.k_proj" // [KVHeads × Dim, Width]
	V     = "self_attn.v_proj"
	O     = "self_attn.o_proj" // [Width, Heads × Dim]
	Gate  = "mlp.gate_proj"    // [Inner, Width]
	Up    = "mlp.up_proj"
	Down  = "mlp.down_proj" // [Width, Inner]

	Weight = ".weight"
	Bias   = ".bias"
)

// InLayer is the whole name of a layer's weight.
func InLayer(layer int, name string) string { return fmt.Sprintf("model.layers.%d.", layer) + name }

// HeadTable names the matrix that logits are made with.
func (c Config) HeadTable() string {
	if c.Tied {
		return TokenTable
	}
	return Head
}

// Tensors lists a model's weights.
func (c Config) Tensors() []Tensor {
	list := []Tensor{{TokenTable, []int{c.Vocabulary, c.Width}}}
	for layer := range c.Layers {
		vector := func(name string, n int) { list = append(list, Tensor{InLayer(layer, name), []int{n}}) }
		linear := func(name string, out, in int, bias bool) {
			list = append(list, Tensor{InLayer(layer, name+Weight), []int{out, in}})
			if bias {
				vector(name+Bias, out)
			}
		}
		vector(Gain1, c.Width)
		linear(Q, c.Heads*c.Dim, c.Width, c.AttentionBias)
		linear(K, c.KVHeads*c.Dim, c.Width, c.AttentionBias)
		linear(V, c.KVHeads*c.Dim, c.Width, c.AttentionBias)
		linear(O, c.Width, c.Heads*c.Dim, c.AttentionBias)
		vector(Gain2, c.Width)
		linear(Gate, c.Inner, c.Width, c.MLPBias)
		linear(Up, c.Inner, c.Width, c.MLPBias)
		linear(Down, c.Width, c.Inner, c.MLPBias)
	}
	list = append(list, Tensor{FinalGain, []int{c.Width}})
	if !c.Tied {
		list = append(list, Tensor{Head, []int{c.Vocabulary, c.Width}})
	}
	return list
}
