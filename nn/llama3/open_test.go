package llama3

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/internal/mutate"
	"flashlab/nn/lm"
	"flashlab/nn/safetensors"
	"flashlab/nn/safetensors/safetensorstest"
	"flashlab/tensor"
)

var small = Config{Width: 18, Heads: 4, KVHeads: 2, Dim: 6, Layers: 2, Inner: 17, Positions: 37, Vocabulary: 113, Epsilon: 1e-5,
	Rotary: 500000, Scaling: &Scaling{Factor: 8, Low: 1, High: 4, Original: 16}, AttentionBias: true, Begin: 1, Ends: []int32{2, 3}}

const smallJSON = `{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 18, "num_attention_heads": 4, "num_key_value_heads": 2,
	"head_dim": 6, "num_hidden_layers": 2, "intermediate_size": 17, "max_position_embeddings": 37, "vocab_size": 113, "rms_norm_eps": 1e-5,
	"rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16, "rope_type": "llama3"},
	"attention_bias": true, "tie_word_embeddings": false, "bos_token_id": 1, "eos_token_id": [2, 3], "torch_dtype": "bfloat16"}`

// stored are a random model's weights.
func stored(t testing.TB, c Config) map[string]*tensor.Tensor {
	w, err := Random(c, 7)
	require.NoError(t, err)
	all := map[string]*tensor.Tensor{}
	for _, one := range c.Tensors() {
		x, err := Whole(w, one)
		require.NoError(t, err)
		all[one.Name] = &tensor.Tensor{Shape: one.Shape, Data: x}
	}
	return all
}

func folder(config string, weights []byte) fstest.MapFS {
	return fstest.MapFS{configFile: {Data: []byte(config)}, safetensors.Single: {Data: weights}}
}

func TestAFolderIsRead(t *testing.T) {
	f, err := Open(folder(smallJSON, safetensorstest.File(t, stored(t, small))))
	require.NoError(t, err)
	assert.Equal(t, small, f.Config())
	w, err := OpenOrRandom(fstest.MapFS{configFile: {Data: []byte(smallJSON)}})
	require.NoError(t, err)
	assert.Equal(t, small, w.Config())
	assert.Contains(t, w.About(), "random")
	random, err := Random(small, 7)
	require.NoError(t, err)
	for _, one := range small.Tensors() {
		want, err := Whole(random, one)
		require.NoError(t, err)
		got, err := Whole(f, one)
		require.NoError(t, err)
		require.Equal(t, want, got, one.Name)
		tail := make([]float32, len(want)/2)
		for _, w := range []Weights{f, random} { // any piece of it
			require.NoError(t, w.Read(one, len(want)-len(tail), tail))
			require.Equal(t, want[len(want)-len(tail):], tail)
			assert.Error(t, w.Read(one, len(want)-len(tail)+1, tail))
		}
	}
	assert.NoError(t, f.Close())
}

// What a config leaves out is what transformers takes then.
func TestConfigs(t *testing.T) {
	plain := `{"architectures": ["LlamaForCausalLM"], "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1, "intermediate_size": 8, "vocab_size": 10`
	want := Config{Width: 32, Heads: 4, KVHeads: 4, Dim: 8, Layers: 1, Inner: 8, Positions: 2048, Vocabulary: 10, Epsilon: 1e-6, Rotary: 10000, Begin: -1}
	for more, change := range map[string]func(*Config){
		``:                              func(*Config) {},
		`, "model_type": "llama"`:       func(*Config) {},
		`, "eos_token_id": 7`:           func(c *Config) { c.Ends = []int32{7} },
		`, "eos_token_id": [7, 8]`:      func(c *Config) { c.Ends = []int32{7, 8} },
		`, "eos_token_id": null`:        func(*Config) {},
		`, "tie_word_embeddings": true`: func(c *Config) { c.Tied = true },
		`, "mlp_bias": true`:            func(c *Config) { c.MLPBias = true },
		`, "head_dim": 16`:              func(c *Config) { c.Dim = 16 },
		`, "head_dim": null`:            func(*Config) {},
		`, "rope_scaling": null`:        func(*Config) {},
		`, "rope_theta": 5, "rope_scaling": {"type": "llama3", "factor": 2, "low_freq_factor": 1, "high_freq_factor": 3, "original_max_position_embeddings": 9}`: func(c *Config) {
			c.Rotary, c.Scaling = 5, &Scaling{2, 1, 3, 9}
		},
		`, "rope_parameters": {"rope_type": "default", "rope_theta": 77.0}`: func(c *Config) { c.Rotary = 77 },
	} {
		expected := want
		change(&expected)
		got, err := ParseConfig([]byte(plain + more + "}"))
		require.NoError(t, err, more)
		assert.Equal(t, expected, got, more)
	}
	assert.Equal(t, 8030261248, Sizes["8B"].Parameters()) // as published
	assert.Equal(t, 1235814400, Sizes["1B"].Parameters())
	assert.Equal(t, 3212749824, Sizes["3B"].Parameters())
	assert.Equal(t, 70553706496, Sizes["70B"].Parameters())
	for name, c := range Sizes {
		assert.NoError(t, c.Check(), name)
	}
}

func TestBrokenModelsAreNamed(t *testing.T) {
	good := safetensorstest.File(t, stored(t, small))
	json := func(old, new string) fstest.MapFS {
		require.Contains(t, smallJSON, old)
		return folder(strings.Replace(smallJSON, old, new, 1), good)
	}
	weights := func(change func(map[string]*tensor.Tensor)) fstest.MapFS {
		all := stored(t, small)
		change(all)
		return folder(smallJSON, safetensorstest.File(t, all))
	}
	q := InLayer(1, Q+Weight)
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"nothing":              {nil, "config.json is missing: want the folder of a Hugging Face model"},
		"config cut off":       {folder(smallJSON[:60], good), "config.json: "},
		"another architecture": {json("LlamaForCausalLM", "MistralForCausalLM"), `config.json: architectures = "MistralForCausalLM": only LlamaForCausalLM can be read`},
		"another model":        {json(`"model_type": "llama"`, `"model_type": "llama4"`), `model_type = "llama4": want "llama"`},
		"no model":             {folder(`{}`, good), "neither architectures nor model_type is there"},
		"another rope":         {json(`"rope_type": "llama3"`, `"rope_type": "yarn"`), `rope_scaling: rope_type = "yarn": want "llama3", "linear" or "default"`},
		"no rope type":         {json(`, "rope_type": "llama3"`, ``), "rope_scaling: a factor without a rope_type"},
		"no factor":            {json(`"factor": 8.0, `, ``), "rope_scaling: factor = 0: want 1 or more"},
		"factors reversed":     {json(`"high_freq_factor": 4.0`, `"high_freq_factor": 0.5`), "low_freq_factor = 1, high_freq_factor = 0.5"},
		"no original":          {json(`, "original_max_position_embeddings": 16`, ``), "original_max_position_embeddings = 0"},
		"part of a head":       {json(`"rope_type"`, `"partial_rotary_factor": 0.5, "rope_type"`), "partial_rotary_factor = 0.5"},
		"no theta":             {json(`"rope_theta": 500000.0`, `"rope_theta": 0`), "rope_theta = 0"},
		"no layers":            {json(`"num_hidden_layers": 2`, `"num_hidden_layers": 0`), "num_hidden_layers = 0: want 1 to 1024"},
		"absurd":               {json(`"hidden_size": 18`, `"hidden_size": 18000000000`), "hidden_size = 18000000000"},
		"absurd together":      {json(`"vocab_size": 113`, `"vocab_size": 1000000, "hidden_size": 1000000`), "less than 2^31 numbers"},
		"uneven groups":        {json(`"num_key_value_heads": 2`, `"num_key_value_heads": 3`), "num_attention_heads = 4 on num_key_value_heads = 3"},
		"uneven heads":         {json(`"head_dim": 6, `, ``), "hidden_size = 18 in num_attention_heads = 4: want a multiple, or a head_dim"},
		"no heads":             {json(`"num_attention_heads": 4`, `"num_attention_heads": 0`), "num_attention_heads = 0"},
		"an odd head":          {json(`"head_dim": 6`, `"head_dim": 5`), "head_dim = 5: want an even number"},
		"another activation":   {json(`"attention_bias"`, `"hidden_act": "gelu", "attention_bias"`), `hidden_act = "gelu": want "silu"`},
		"no epsilon":           {json(`"rms_norm_eps": 1e-5`, `"rms_norm_eps": 0`), "rms_norm_eps = 0"},
		"quantised":            {json(`"attention_bias"`, `"quantization_config": {"bits": 4}, "attention_bias"`), "before it was quantised"},
		"a strange end":        {json(`[2, 3]`, `"</s>"`), `eos_token_id = "</s>": want a number, or a list of numbers`},
		"an end too large":     {json(`[2, 3]`, `[2, 113]`), "eos_token_id = 113: the vocabulary has 0 to 112"},
		"no weights":           {fstest.MapFS{configFile: {Data: []byte(smallJSON)}}, "no weights: neither model.safetensors nor model.safetensors.index.json is there"},
		"torch's": {fstest.MapFS{configFile: {Data: []byte(smallJSON)}, "pytorch_model-00001-of-00002.bin": {}},
			"pytorch_model-00001-of-00002.bin is there, which is not read: save_pretrained"},
		"cut off": {folder(smallJSON, good[:len(good)-1]), "model.safetensors: "},
		"a missing weight": {weights(func(a map[string]*tensor.Tensor) { delete(a, q) }),
			"model.safetensors: the weight model.layers.1.self_attn.q_proj.weight is missing; there are lm_head.weight, "},
		"no head": {weights(func(a map[string]*tensor.Tensor) { delete(a, Head) }), "tie_word_embeddings = true"},
		"another shape": {weights(func(a map[string]*tensor.Tensor) { a[q].Shape = []int{18, 24} }),
			"the weight model.layers.1.self_attn.q_proj.weight is [18, 24]; config.json asks for [24, 18]"},
		"a bias too many": {json(`"attention_bias": true, `, ``), "there is a model.layers.0.self_attn.k_proj.bias, and by config.json (attention_bias = false"},
		"NaN": {weights(func(a map[string]*tensor.Tensor) { a[q].Data[7] = float32(math.NaN()) }),
			"model.safetensors: the weight model.layers.1.self_attn.q_proj.weight is corrupt: value 7 is NaN"},
	} {
		f, err := Open(c.files)
		if err == nil {
			_, err = NewReference(f)
		}
		assert.ErrorContains(t, err, c.want, name)
	}
	_, err := Open(fstest.MapFS{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestHalves(t *testing.T) {
	all := stored(t, small)
	x := all[FinalGain].Data
	copy(x, []float32{65504, -65504, 1 + 1.0/2048, 1 + 3.0/2048, 5.9604645e-08, 2e-8, 65519})
	open := func() *Files {
		f, err := Open(folder(smallJSON, safetensorstest.File(t, all)))
		require.NoError(t, err)
		return f
	}
	read := func(one Tensor) (halves []device.Float16, err error) {
		err = Halves(open(), one, func(from int, part []device.Float16) error {
			assert.Equal(t, len(halves), from)
			halves = append(halves, part...)
			return nil
		})
		return halves, err
	}
	for _, one := range small.Tensors() {
		halves, err := read(one)
		require.NoError(t, err)
		require.Len(t, halves, one.Elements())
		for i, h := range halves {
			require.Equal(t, device.ToFloat16(all[one.Name].Data[i]), h)
		}
	}
	x[3] = 65520
	_, err := read(Tensor{FinalGain, []int{18}})
	assert.ErrorContains(t, err, "the weight model.norm.weight: it holds 65520, and the largest half is 65504: this model cannot run in halves")
}

// Weights larger than a piece come in the same order, whoever reads them.
func TestLargeWeightsComeInPieces(t *testing.T) {
	c := small
	c.Width, c.Vocabulary = 64, 70001
	w, err := Random(c, 3)
	require.NoError(t, err)
	table := c.Tensors()[0]
	want, err := Whole(w, table)
	require.NoError(t, err)
	n, pieces := 0, 0
	require.NoError(t, Halves(w, table, func(from int, part []device.Float16) error {
		require.Equal(t, n, from)
		require.Equal(t, device.ToFloat16(want[from]), part[0])
		require.Equal(t, device.ToFloat16(want[from+len(part)-1]), part[len(part)-1])
		n += len(part)
		pieces++
		return nil
	}))
	assert.Equal(t, len(want), n)
	assert.Equal(t, 2, pieces)
	assert.ErrorIs(t, Halves(w, table, func(int, []device.Float16) error { return fs.ErrClosed }), fs.ErrClosed)
}

func TestRandomModels(t *testing.T) {
	one, err := Random(small, 1)
	require.NoError(t, err)
	two, err := Random(small, 2)
	require.NoError(t, err)
	a, err := Whole(one, small.Tensors()[0])
	require.NoError(t, err)
	b, err := Whole(two, small.Tensors()[0])
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
	names := slices.Collect(maps.Keys(stored(t, small)))
	assert.Len(t, names, len(small.Tensors())) // no name twice
	_, err = Random(Config{}, 1)
	assert.Error(t, err)
}

// TestStepsAgreeWithAPrompt: token by token as all at once.
func TestStepsAgreeWithAPrompt(t *testing.T) {
	w, err := Random(small, 5)
	require.NoError(t, err)
	r, err := NewReference(w)
	require.NoError(t, err)
	text := []int32{1, 100, 7, 7, 112, 0, 54}
	var want [][]float32
	require.NoError(t, r.Each(text, func(_ int, row []float32) error { want = append(want, row); return nil }))
	require.NoError(t, r.Prefill(text[:1]))
	for i := range text {
		if i > 0 {
			require.NoError(t, r.Step(text[i]))
		}
		got, err := r.Logits()
		require.NoError(t, err)
		assert.InDeltaSlice(t, want[i], got, 1e-4, fmt.Sprint(i))
	}
	assert.Equal(t, 37, r.Positions())
	assert.Equal(t, 30, r.Room())
	p, err := lm.Perplexity(r, text)
	require.NoError(t, err)
	assert.Greater(t, p, 1.0)

	assert.ErrorContains(t, r.Prefill(nil), "empty")
	assert.ErrorIs(t, r.Prefill(make([]int32, 38)), lm.ErrFull)
	assert.ErrorContains(t, r.Prefill([]int32{0, 113}), "token 1 of the prompt is 113")
	require.NoError(t, r.Prefill(make([]int32, 37)))
	assert.ErrorIs(t, r.Step(1), lm.ErrFull)
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(smallJSON))
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = ParseConfig(data) }) // an error, never a panic
}
