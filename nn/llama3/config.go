// Package llama3 is the Llama that Hugging Face publishes (LlamaForCausalLM):
// its configuration, its weights from files or from a seed, the model in float32
// on a device, with anybody's attention, and once more in plain Go, to hold
// others against. nn/llama is another: task 6's, with weights and a norm of its
// own.
package llama3

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Config is the shape of a model.
type Config struct {
	Width      int // of the residual stream: hidden_size
	Heads      int // of queries
	KVHeads    int // of keys and values; a divisor of Heads
	Dim        int // of a head; Heads × Dim need not be Width
	Layers     int
	Inner      int // of the MLP
	Positions  int // the longest text
	Vocabulary int
	Epsilon    float64 // of the norms

	Rotary  float64  // the base of RoPE's angles: rope_theta
	Scaling *Scaling // of its frequencies; nil for none
	// Divisors divide the frequencies one by one: what GGUF files have in place of a Scaling. nil for none.
	Divisors []float64

	AttentionBias bool // on the projections to queries, keys, values, and out
	MLPBias       bool
	Tied          bool // the table of tokens is the head, too

	Begin int32   // the token that a text begins with; -1 for none
	Ends  []int32 // tokens that end a text; may be none
}

// Scaling is Llama 3.1's way of stretching RoPE ('llama3'): slow frequencies are
// divided by Factor, fast ones kept, those between mixed.
type Scaling struct {
	Factor   float64
	Low      float64 // up to so many turns within Original positions a frequency is slow
	High     float64 // from so many on it is fast
	Original int     // the positions that the model was first trained with
}

// Check tells what is wrong with it.
func (s Scaling) Check() error {
	switch {
	case !(s.Factor >= 1) || math.IsInf(s.Factor, 0):
		return fmt.Errorf("factor = %v: want 1 or more", s.Factor)
	case !(s.Low > 0) || !(s.High > s.Low) || math.IsInf(s.High, 0):
		return fmt.Errorf("low_freq_factor = %v, high_freq_factor = %v: want two positive numbers, the second larger", s.Low, s.High)
	case s.Original < 1 || s.Original > maxSide:
		return fmt.Errorf("original_max_position_embeddings = %d: want 1 to %d", s.Original, maxSide)
	}
	return nil
}

// Frequencies are RoPE's, for the pairs of numbers j and j + Dim/2 of a head: at
// position p, pair j turns by p × Frequencies()[j].
func (c Config) Frequencies() []float64 {
	all := make([]float64, c.Dim/2)
	for j := range all {
		all[j] = math.Pow(c.Rotary, -2*float64(j)/float64(c.Dim))
		if s := c.Scaling; s != nil {
			turns := all[j] * float64(s.Original) / (2 * math.Pi)
			fast := min(max((turns-s.Low)/(s.High-s.Low), 0), 1)
			all[j] *= fast + (1-fast)/s.Factor
		}
		if c.Divisors != nil {
			all[j] /= c.Divisors[j]
		}
	}
	return all
}

// Parameters counts the model's weights.
func (c Config) Parameters() int {
	n := 0
	for _, t := range c.Tensors() {
		n += t.Elements()
	}
	return n
}

func (c Config) String() string {
	return fmt.Sprintf("%d layers, %d wide, %d heads × %d on %d of keys and values, MLP %d, %d tokens, %d positions, %.1f million weights",
		c.Layers, c.Width, c.Heads, c.Dim, c.KVHeads, c.Inner, c.Vocabulary, c.Positions, float64(c.Parameters())/1e6)
}

// Bounds on a config, so that a broken file asks for no absurd amount of memory.
const (
	maxSide   = 1 << 20 // of each size
	maxMatrix = math.MaxInt32
	maxLayers = 1 << 10
)

// Check tells what is wrong with a config.
func (c Config) Check() error {
	for _, s := range []struct {
		name  string
		value int
		most  int
	}{
		{"hidden_size", c.Width, maxSide}, {"num_attention_heads", c.Heads, maxSide}, {"num_key_value_heads", c.KVHeads, maxSide},
		{"num_hidden_layers", c.Layers, maxLayers}, {"intermediate_size", c.Inner, maxSide}, {"vocab_size", c.Vocabulary, maxSide},
		{"max_position_embeddings", c.Positions, 16 * maxSide}, {"head_dim", c.Dim, maxSide},
	} {
		if s.value < 1 || s.value > s.most {
			return fmt.Errorf("%s = %d: want 1 to %d", s.name, s.value, s.most)
		}
	}
	switch {
	case c.Heads%c.KVHeads != 0:
		return fmt.Errorf("num_attention_heads = %d on num_key_value_heads = %d: want a multiple", c.Heads, c.KVHeads)
	case c.Dim%2 != 0:
		return fmt.Errorf("head_dim = %d: want an even number, for RoPE turns pairs", c.Dim)
	case max(c.Inner, c.Vocabulary, c.Heads*c.Dim) > maxMatrix/c.Width:
		return fmt.Errorf("hidden_size = %d with intermediate_size = %d, vocab_size = %d, %d heads × %d: want less than 2^31 numbers in a matrix", c.Width, c.Inner, c.Vocabulary, c.Heads, c.Dim)
	case !(c.Epsilon > 0) || math.IsInf(c.Epsilon, 0):
		return fmt.Errorf("rms_norm_eps = %v: want a small positive number", c.Epsilon)
	case !(c.Rotary > 0) || math.IsInf(c.Rotary, 0):
		return fmt.Errorf("rope_theta = %v: want a positive number", c.Rotary)
	}
	if n := len(c.Divisors); c.Divisors != nil && n != c.Dim/2 {
		return fmt.Errorf("RoPE's frequencies are divided by %d numbers: want %d, one for each pair of a head", n, c.Dim/2)
	}
	for _, d := range c.Divisors {
		if !(d > 0) || math.IsInf(d, 0) {
			return fmt.Errorf("a frequency of RoPE is divided by %v: want a positive number", d)
		}
	}
	for _, token := range append([]int32{max(c.Begin, 0)}, c.Ends...) {
		if token < 0 || int(token) >= c.Vocabulary {
			return fmt.Errorf("bos_token_id or eos_token_id = %d: the vocabulary has 0 to %d", token, c.Vocabulary-1)
		}
	}
	if c.Scaling != nil {
		if err := c.Scaling.Check(); err != nil {
			return fmt.Errorf("rope_scaling: %w", err)
		}
	}
	return nil
}

// configJSON is config.json, with null for what a model may leave out.
type configJSON struct {
	Architectures []string `json:"architectures"`
	Type          string   `json:"model_type"`

	Width      int      `json:"hidden_size"`
	Heads      int      `json:"num_attention_heads"`
	KVHeads    *int     `json:"num_key_value_heads"`
	Dim        *int     `json:"head_dim"`
	Layers     int      `json:"num_hidden_layers"`
	Inner      int      `json:"intermediate_size"`
	Positions  *int     `json:"max_position_embeddings"`
	Vocabulary int      `json:"vocab_size"`
	Epsilon    *float64 `json:"rms_norm_eps"`

	Theta      *float64  `json:"rope_theta"`
	Scaling    *ropeJSON `json:"rope_scaling"`
	Parameters *ropeJSON `json:"rope_parameters"` // both in one, since transformers 5

	AttentionBias bool    `json:"attention_bias"`
	MLPBias       bool    `json:"mlp_bias"`
	Tied          bool    `json:"tie_word_embeddings"`
	Activation    *string `json:"hidden_act"`
	Quantization  any     `json:"quantization_config"`

	Begin *int32          `json:"bos_token_id"`
	End   json.RawMessage `json:"eos_token_id"`
}

type ropeJSON struct {
	Type     string   `json:"rope_type"`
	Older    string   `json:"type"` // its former name
	Theta    *float64 `json:"rope_theta"`
	Partial  *float64 `json:"partial_rotary_factor"`
	Factor   float64  `json:"factor"`
	Low      float64  `json:"low_freq_factor"`
	High     float64  `json:"high_freq_factor"`
	Original int      `json:"original_max_position_embeddings"`
}

// architecture is the only one that this package knows.
const architecture = "LlamaForCausalLM"

// ParseConfig reads a config.json. What it asks for and this package lacks is
// an error: the model would talk, but not make sense.
func ParseConfig(data []byte) (Config, error) {
	var file configJSON
	if err := json.Unmarshal(data, &file); err != nil {
		return Config{}, err
	}
	if err := file.known(); err != nil {
		return Config{}, err
	}
	c := Config{Width: file.Width, Heads: file.Heads, KVHeads: or(file.KVHeads, file.Heads), Layers: file.Layers, Inner: file.Inner,
		Positions: or(file.Positions, 2048), Vocabulary: file.Vocabulary, Epsilon: or(file.Epsilon, 1e-6),
		AttentionBias: file.AttentionBias, MLPBias: file.MLPBias, Tied: file.Tied, Begin: or(file.Begin, -1)}
	if file.Dim == nil && c.Heads > 0 && c.Width%c.Heads != 0 {
		return c, fmt.Errorf("hidden_size = %d in num_attention_heads = %d: want a multiple, or a head_dim", c.Width, c.Heads)
	}
	c.Dim = or(file.Dim, c.Width/max(c.Heads, 1))
	var err error
	if c.Ends, err = numbers(file.End); err != nil {
		return c, err
	}
	if err := file.rope(&c); err != nil {
		return c, err
	}
	return c, c.Check()
}

// or is what a file says, or what transformers takes where it says nothing.
func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// known refuses other models.
func (file configJSON) known() error {
	switch {
	case len(file.Architectures) > 0 && !slices.Contains(file.Architectures, architecture):
		return fmt.Errorf("architectures = %q: only %s can be read", strings.Join(file.Architectures, ", "), architecture)
	case len(file.Architectures) == 0 && file.Type == "":
		return fmt.Errorf("neither architectures nor model_type is there: want %s, \"llama\"", architecture)
	case file.Type != "" && file.Type != "llama":
		return fmt.Errorf("model_type = %q: want \"llama\"", file.Type)
	case file.Quantization != nil:
		return fmt.Errorf("quantization_config is there: want the model as it was before it was quantised, in bfloat16, float16 or float32")
	case or(file.Activation, "silu") != "silu":
		return fmt.Errorf("hidden_act = %q: want \"silu\"", *file.Activation)
	}
	return nil
}

// rope reads the angles' base and scaling, in either way of writing them.
func (file configJSON) rope(c *Config) error {
	c.Rotary = or(file.Theta, 10000)
	key, r := "rope_scaling", file.Scaling
	if file.Parameters != nil {
		key, r = "rope_parameters", file.Parameters
		c.Rotary = or(r.Theta, c.Rotary)
	}
	if r == nil {
		return nil
	}
	kind := r.Type
	if kind == "" {
		kind = r.Older
	}
	if or(r.Partial, 1) != 1 {
		return fmt.Errorf("%s: partial_rotary_factor = %v: want 1, for a Llama turns whole heads", key, *r.Partial)
	}
	switch kind {
	case "llama3":
		c.Scaling = &Scaling{Factor: r.Factor, Low: r.Low, High: r.High, Original: r.Original}
	case "linear":
		c.Divisors = alike(r.Factor, c.Dim)
	case "default", "":
	default:
		return fmt.Errorf("%s: rope_type = %q: want \"llama3\", \"linear\" or \"default\"", key, kind)
	}
	if kind == "" && r.Factor != 0 {
		return fmt.Errorf("%s: a factor without a rope_type: want \"llama3\", \"linear\" or \"default\"", key)
	}
	return nil
}

// numbers is one token, a list, or nothing.
func numbers(raw json.RawMessage) (list []int32, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var one int32
	if json.Unmarshal(raw, &one) == nil {
		return []int32{one}, nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("eos_token_id = %.60s: want a number, or a list of numbers", raw)
	}
	return list, nil
}
