package llama3

import (
	"fmt"
	"slices"

	"flashlab/nn/gguf"
	"flashlab/tensor"
)

// fromMetadata is the config that a file's metadata describes. What it asks for and this package lacks is an error.
func fromMetadata(f *gguf.File) (c Config, err error) {
	m := f.Metadata
	architecture, err := m.Text("general.architecture")
	if err != nil {
		return c, err
	}
	if architecture != "llama" {
		return c, fmt.Errorf("its general.architecture is %q: only \"llama\" can be read", architecture)
	}
	whole := func(key string, otherwise int) (v int) {
		if err == nil {
			v, err = m.Int(key, otherwise)
		}
		return v
	}
	number := func(key string, otherwise float64) (v float64) {
		if err == nil {
			v, err = m.Float(key, otherwise)
		}
		return v
	}
	c.Width, c.Layers, c.Inner = whole("llama.embedding_length", 0), whole("llama.block_count", 0), whole("llama.feed_forward_length", 0)
	c.Heads, c.Positions = whole("llama.attention.head_count", 0), whole("llama.context_length", 2048)
	c.KVHeads = whole("llama.attention.head_count_kv", c.Heads)
	c.Dim = whole("llama.attention.key_length", c.Width/max(c.Heads, 1))
	c.Epsilon, c.Rotary = number("llama.attention.layer_norm_rms_epsilon", 1e-6), number("llama.rope.freq_base", 10000)
	values, turned, experts, parts := whole("llama.attention.value_length", c.Dim), whole("llama.rope.dimension_count", c.Dim), whole("llama.expert_count", 0), whole("split.count", 1)
	if err != nil {
		return c, err
	}
	switch {
	case values != c.Dim:
		return c, fmt.Errorf("llama.attention.value_length = %d beside keys of %d: want the same", values, c.Dim)
	case turned != c.Dim:
		return c, fmt.Errorf("llama.rope.dimension_count = %d: want %d, for a Llama turns whole heads", turned, c.Dim)
	case experts > 0:
		return c, fmt.Errorf("llama.expert_count = %d: a mixture of experts cannot be read", experts)
	case parts > 1:
		return c, fmt.Errorf("it is one of %d parts: join them first (llama-gguf-split --merge)", parts)
	}
	table, ok := f.Shape(ggufNames[TokenTable])
	if !ok {
		return c, fmt.Errorf("the weight %s is missing; there are %s", ggufNames[TokenTable], some(f.Names()))
	}
	c.Vocabulary = table[0]
	_, head := f.Shape(ggufNames[Head])
	c.Tied = !head
	_, c.AttentionBias = f.Shape("blk.0.attn_q.bias")
	_, c.MLPBias = f.Shape("blk.0.ffn_gate.bias")
	if c.Divisors, err = divisors(f, c.Dim); err != nil {
		return c, err
	}
	return c, c.frame(m)
}

// divisors are what RoPE's frequencies are divided by: the file's own list, or one number for all.
func divisors(f *gguf.File, dim int) ([]float64, error) {
	kind, err := f.Metadata.Text("llama.rope.scaling.type")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "", "none":
	case "linear":
		factor, err := f.Metadata.Float("llama.rope.scaling.factor", 1)
		if err != nil {
			return nil, err
		}
		return alike(factor, dim), nil
	default:
		return nil, fmt.Errorf("llama.rope.scaling.type = %q: want \"linear\" or \"none\"", kind)
	}
	shape, ok := f.Shape(divisorsName)
	if !ok {
		return nil, nil
	}
	if !slices.Equal(shape, []int{dim / 2}) {
		return nil, fmt.Errorf("the weight %s is %s: want [%d], one for each pair of a head", divisorsName, tensor.ShapeString(shape), dim/2)
	}
	if err := f.Readable(divisorsName); err != nil { // before room is made
		return nil, fmt.Errorf("the weight %s: %w", divisorsName, err)
	}
	x := make([]float32, dim/2)
	if err := f.Read(divisorsName, 0, x); err != nil {
		return nil, fmt.Errorf("the weight %s: %w", divisorsName, err)
	}
	all := make([]float64, len(x))
	for i, v := range x {
		all[i] = float64(v)
	}
	return all, nil
}

// alike are the divisors of a head whose frequencies are all divided by the same.
func alike(factor float64, dim int) []float64 {
	return slices.Repeat([]float64{factor}, min(max(dim/2, 0), maxSide)) // Check has not seen dim yet
}

// frame reads which tokens a text begins and ends with.
func (c *Config) frame(m gguf.Metadata) error {
	c.Begin = -1
	kind, err := m.Text("tokenizer.ggml.pre")
	if err != nil {
		return err
	}
	begins, err := m.Bool("tokenizer.ggml.add_bos_token", kind == "llama-bpe") // as llama.cpp takes it where the file says nothing
	if err != nil {
		return err
	}
	begin, err := m.Int("tokenizer.ggml.bos_token_id", -1)
	if err != nil {
		return err
	}
	if begins {
		c.Begin = int32(begin)
	}
	for _, key := range []string{"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"} {
		end, err := m.Int(key, -1)
		if err != nil {
			return err
		}
		if end >= 0 && !slices.Contains(c.Ends, int32(end)) {
			c.Ends = append(c.Ends, int32(end))
		}
	}
	return nil
}
