// Package gpt2 is the model GPT-2: its weights from files, itself on a device,
// and once more in plain Go to hold that against. The attention of its layers,
// and the kernels under it, come from outside.
package gpt2

import (
	"encoding/json"
	"fmt"
	"math"
)

// Config is the shape of a model, as Hugging Face's config.json names it.
type Config struct {
	Width      int     `json:"n_embd"`
	Heads      int     `json:"n_head"`
	Layers     int     `json:"n_layer"`
	Positions  int     `json:"n_positions"` // the longest text
	Vocabulary int     `json:"vocab_size"`
	Inner      int     `json:"n_inner"` // of the MLP; 4 × Width if 0
	Epsilon    float64 `json:"layer_norm_epsilon"`
}

// Dim is the width of a head.
func (c Config) Dim() int { return c.Width / c.Heads }

// Parameters counts the model's weights.
func (c Config) Parameters() int {
	n := 0
	for _, t := range c.Tensors() {
		n += t.Elements()
	}
	return n
}

func (c Config) String() string {
	return fmt.Sprintf("%d layers, %d heads × %d, %d tokens, %d positions, %.1f million weights",
		c.Layers, c.Heads, c.Dim(), c.Vocabulary, c.Positions, float64(c.Parameters())/1e6)
}

// Bounds on a config, so that a broken file asks for no absurd amount of memory.
const (
	maxSide   = 1 << 20 // of each size
	maxLayers = 1 << 10
)

// Check tells what is wrong with a config.
func (c Config) Check() error {
	for _, s := range []struct {
		name  string
		value int
	}{{"n_embd", c.Width}, {"n_head", c.Heads}, {"n_layer", c.Layers}, {"n_positions", c.Positions}, {"vocab_size", c.Vocabulary}, {"n_inner", c.Inner}} {
		if s.value < 1 || s.value > maxSide {
			return fmt.Errorf("%s = %d: want 1 to %d", s.name, s.value, maxSide)
		}
	}
	switch {
	case c.Layers > maxLayers:
		return fmt.Errorf("n_layer = %d: want 1 to %d", c.Layers, maxLayers)
	case c.Width%c.Heads != 0:
		return fmt.Errorf("n_embd = %d in n_head = %d heads: want a multiple", c.Width, c.Heads)
	case !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0):
		return fmt.Errorf("layer_norm_epsilon = %v: want a small positive number", c.Epsilon)
	}
	return nil
}

// ParseConfig reads a config.json. What it asks for and this package lacks is
// an error: the model would talk, but not make sense.
func ParseConfig(data []byte) (Config, error) {
	file := struct {
		Config
		Type       *string `json:"model_type"`
		Activation *string `json:"activation_function"`
		Scale      *bool   `json:"scale_attn_weights"`
		ByLayer    *bool   `json:"scale_attn_by_inverse_layer_idx"`
		Tied       *bool   `json:"tie_word_embeddings"`
		Cross      *bool   `json:"add_cross_attention"`
	}{Config: Config{Epsilon: 1e-5, Positions: 1024}}
	if err := json.Unmarshal(data, &file); err != nil {
		return Config{}, err
	}
	c := file.Config
	if file.Type != nil && *file.Type != "gpt2" { // before sizes that another model does not name
		hint := ""
		if *file.Type == "llama" {
			hint = "; a Llama talks by make chat MODEL=…"
		}
		return c, fmt.Errorf("model_type = %q: want \"gpt2\"%s", *file.Type, hint)
	}
	if c.Inner == 0 {
		c.Inner = 4 * c.Width
	}
	unless := func(key string, got *bool, want bool) error {
		if got == nil || *got == want {
			return nil
		}
		return fmt.Errorf("%s = %v: GPT-2 has %v, and nothing else is known here", key, *got, want)
	}
	for _, err := range []error{
		c.Check(),
		unless("scale_attn_weights", file.Scale, true),
		unless("scale_attn_by_inverse_layer_idx", file.ByLayer, false),
		unless("tie_word_embeddings", file.Tied, true),
		unless("add_cross_attention", file.Cross, false),
	} {
		if err != nil {
			return c, err
		}
	}
	if a := file.Activation; a != nil && *a != "gelu_new" && *a != "gelu_pytorch_tanh" {
		return c, fmt.Errorf("activation_function = %q: want \"gelu_new\"", *a)
	}
	return c, nil
}

// Sizes are the shapes that GPT-2 was published in.
var Sizes = map[string]Config{
	"124M":  published(768, 12, 12),
	"355M":  published(1024, 16, 24),
	"774M":  published(1280, 20, 36),
	"1558M": published(1600, 25, 48),
}

func published(width, heads, layers int) Config {
	return Config{Width: width, Heads: heads, Layers: layers, Positions: 1024, Vocabulary: 50257, Inner: 4 * width, Epsilon: 1e-5}
}
