package llama3

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
	"flashlab/nn/gguf/gguftest"
	"flashlab/tensor"
)

// inFile are a model's metadata and weights as llama.cpp's converter writes them.
func inFile(t testing.TB, w Weights) (map[string]any, map[string]gguftest.Weight) {
	c, tensors := w.Config(), map[string]*tensor.Tensor{}
	for _, one := range c.Tensors() {
		x, err := Whole(w, one)
		require.NoError(t, err)
		tensors[one.Name] = &tensor.Tensor{Shape: one.Shape, Data: x}
	}
	metadata, weights := gguftest.Llama(gguftest.Shape{Width: c.Width, Heads: c.Heads, KVHeads: c.KVHeads, Dim: c.Dim, Layers: c.Layers,
		Inner: c.Inner, Positions: c.Positions, Rotary: c.Rotary, Epsilon: c.Epsilon}, tensors)
	if c.Begin >= 0 {
		metadata["tokenizer.ggml.add_bos_token"], metadata["tokenizer.ggml.bos_token_id"] = true, uint32(c.Begin)
	}
	for i, key := range []string{"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}[:len(c.Ends)] {
		metadata[key] = uint32(c.Ends[i])
	}
	if c.Divisors != nil {
		x := tensor.New(len(c.Divisors))
		for i, d := range c.Divisors {
			x.Data[i] = float32(d)
		}
		weights[divisorsName] = gguftest.Float32(x)
	}
	return metadata, weights
}

type closing struct{ *bytes.Reader }

func (closing) Close() error { return nil }

func opened(data []byte) (*GGUF, error) {
	return OpenGGUF(closing{bytes.NewReader(data)}, int64(len(data)), "model.gguf")
}

// TestAGGUFFileIsTheModel: config and weights of every shape come back, wherever a piece begins.
func TestAGGUFFileIsTheModel(t *testing.T) {
	for name, c := range shapes {
		c.Scaling = nil // the file has divisors in its place
		w, err := Random(c, 3)
		require.NoError(t, err)
		g, err := opened(gguftest.File(inFile(t, w)))
		require.NoError(t, err, name)
		if got := g.Config(); assert.Len(t, got.Divisors, len(c.Divisors), name) {
			for i, d := range c.Divisors {
				assert.InDelta(t, d, got.Divisors[i], 1e-6)
			}
			got.Divisors = c.Divisors
			assert.Equal(t, c, got, name)
		}
		for _, one := range c.Tensors() {
			want, err := Whole(w, one)
			require.NoError(t, err)
			got, err := Whole(g, one)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s: %s", name, one.Name)
			from := len(want) / 3
			part := make([]float32, len(want)/2)
			require.NoError(t, g.Read(one, from, part))
			require.Equal(t, want[from:from+len(part)], part, "%s: a piece of %s", name, one.Name)
		}
		require.NoError(t, g.Close())
	}
}

func TestGGUFFilesThatAreNotRead(t *testing.T) {
	c := shapes["as many"]
	w, err := Random(c, 3)
	require.NoError(t, err)
	set := func(key string, v any) func(map[string]any, map[string]gguftest.Weight) {
		return func(m map[string]any, _ map[string]gguftest.Weight) { m[key] = v }
	}
	for want, change := range map[string]func(map[string]any, map[string]gguftest.Weight){
		`model.gguf: its general.architecture is "qwen2": only "llama" can be read`: set("general.architecture", "qwen2"),
		`model.gguf: its general.architecture is "": only "llama" can be read`:      func(m map[string]any, _ map[string]gguftest.Weight) { delete(m, "general.architecture") },
		"model.gguf: the weight blk.1.ffn_up.weight is missing; there are blk.0.attn_k.weight": func(_ map[string]any, w map[string]gguftest.Weight) {
			delete(w, "blk.1.ffn_up.weight")
		},
		"model.gguf: the weight token_embd.weight is missing": func(_ map[string]any, w map[string]gguftest.Weight) { delete(w, "token_embd.weight") },
		"model.gguf: the weight blk.0.ffn_up.weight: it is quantised as Q5_K: want one of F32, F16, Q4_0": func(_ map[string]any, w map[string]gguftest.Weight) {
			w["blk.0.ffn_up.weight"] = gguftest.Weight{Shape: []int{23, 20}, Type: 13}
		},
		"it is quantised as type 99": func(_ map[string]any, w map[string]gguftest.Weight) {
			w["blk.0.ffn_up.weight"] = gguftest.Weight{Shape: []int{23, 20}, Type: 99}
		},
		"the weight blk.0.ffn_up.weight is [20, 23]; the metadata asks for [23, 20]": func(_ map[string]any, w map[string]gguftest.Weight) {
			w["blk.0.ffn_up.weight"] = gguftest.Float32(tensor.New(20, 23))
		},
		"there is a blk.0.attn_norm.bias, which a Llama lacks": func(_ map[string]any, w map[string]gguftest.Weight) {
			w["blk.0.attn_norm.bias"] = gguftest.Float32(tensor.New(20))
		},
		"num_attention_heads = 3 on num_key_value_heads = 2":   set("llama.attention.head_count_kv", uint32(2)),
		`llama.embedding_length = twenty: want a whole number`: set("llama.embedding_length", "twenty"),
		`llama.rope.scaling.type = "yarn": want`:               set("llama.rope.scaling.type", "yarn"),
		"llama.rope.dimension_count = 4: want 6":               set("llama.rope.dimension_count", uint32(4)),
		"llama.expert_count = 8: a mixture of experts":         set("llama.expert_count", uint32(8)),
		"it is one of 3 parts":                                 set("split.count", uint32(3)),
		"llama.attention.value_length = 8 beside keys of 6":    set("llama.attention.value_length", uint32(8)),
		"rope_freqs.weight is [4]: want [3]": func(_ map[string]any, w map[string]gguftest.Weight) {
			w[divisorsName] = gguftest.Float32(tensor.New(4))
		},
		"a frequency of RoPE is divided by 0": func(_ map[string]any, w map[string]gguftest.Weight) {
			w[divisorsName] = gguftest.Float32(tensor.New(3))
		},
	} {
		m, weights := inFile(t, w)
		change(m, weights)
		_, err := opened(gguftest.File(m, weights))
		assert.ErrorContains(t, err, want)
	}
	data := gguftest.File(inFile(t, w))
	_, err = opened(data[:len(data)-100])
	assert.ErrorContains(t, err, "model.gguf: the weight token_embd.weight: it ends at byte ")
	assert.ErrorContains(t, err, "the file is cut short: fetch it again")
}

// TestLinearScaling: one factor for all pairs, as GGUF and config.json have it.
func TestLinearScaling(t *testing.T) {
	c := shapes["divided by eight"]
	c.Divisors = nil
	w, err := Random(c, 3)
	require.NoError(t, err)
	m, weights := inFile(t, w)
	m["llama.rope.scaling.type"], m["llama.rope.scaling.factor"] = "linear", float32(8)
	g, err := opened(gguftest.File(m, weights))
	require.NoError(t, err)
	assert.Equal(t, shapes["divided by eight"], g.Config())
	folder, err := ParseConfig([]byte(strings.NewReplacer(`"rope_type": "llama3"`, `"rope_type": "linear"`).Replace(smallJSON)))
	require.NoError(t, err)
	assert.Equal(t, []float64{8, 8, 8}, folder.Divisors)
	assert.InDelta(t, c.Frequencies()[3]/8, g.Config().Frequencies()[3], 1e-12)
}

// TestLlamaCppsOwnWriter: what its Python package writes (testdata/written.py) is read as it was meant.
func TestLlamaCppsOwnWriter(t *testing.T) {
	m, err := OpenPath("testdata/written.gguf")
	require.NoError(t, err)
	defer m.Close()
	assert.Equal(t, Config{Width: 4, Heads: 2, KVHeads: 1, Dim: 2, Layers: 1, Inner: 3, Positions: 5, Vocabulary: 7, Epsilon: 1e-5, Rotary: 10000,
		Divisors: []float64{8}, Tied: true, Begin: -1, Ends: []int32{3}}, m.Config())
	for _, one := range m.Config().Tensors() {
		x, err := Whole(m, one)
		require.NoError(t, err)
		for i, v := range x { // heads of two numbers have one pair each, whose rows stay where they are
			require.EqualValues(t, i, v, one.Name)
		}
	}
}

func TestCorruptValuesAreNamed(t *testing.T) {
	w, err := Random(shapes["as many"], 3)
	require.NoError(t, err)
	m, weights := inFile(t, w)
	name := "blk.1.attn_k.weight"
	binary.LittleEndian.PutUint32(weights[name].Raw[20*4:], math.Float32bits(float32(math.NaN()))) // row 1 there, row 3 of ours
	g, err := opened(gguftest.File(m, weights))
	require.NoError(t, err)
	_, err = Whole(g, Tensor{Name: "model.layers.1.self_attn.k_proj.weight", Shape: []int{18, 20}})
	assert.EqualError(t, err, "model.gguf: the weight blk.1.attn_k.weight is corrupt: value 20 is NaN")
}

// TestPaths: a file, a folder that holds one, and a Hugging Face folder.
func TestPaths(t *testing.T) {
	w, err := Random(shapes["as many"], 3)
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "small.gguf")
	require.NoError(t, os.WriteFile(file, gguftest.File(inFile(t, w)), 0o600))
	for path, about := range map[string]string{file: file, dir: file, "testdata/tied": "model.safetensors"} {
		m, err := OpenPath(path)
		require.NoError(t, err, path)
		assert.Equal(t, about, m.About())
		require.NoError(t, m.Close())
	}
	_, err = OpenPath(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = OpenPath(t.TempDir())
	assert.ErrorContains(t, err, "config.json is missing")
	require.NoError(t, os.WriteFile(file, []byte("no such thing"), 0o600))
	_, err = OpenPath(file)
	assert.ErrorContains(t, err, "small.gguf: it does not begin with GGUF")
}

func FuzzOpenGGUF(f *testing.F) {
	c := Config{Width: 4, Heads: 2, KVHeads: 1, Dim: 2, Layers: 1, Inner: 3, Positions: 5, Vocabulary: 7, Epsilon: 1e-5, Rotary: 10000, Tied: true, Begin: -1}
	w, err := Random(c, 3)
	require.NoError(f, err)
	m, weights := inFile(f, w)
	f.Add(gguftest.File(m, weights))
	more := maps.Clone(m)
	more["llama.rope.scaling.type"], more["llama.rope.scaling.factor"] = "linear", float32(8)
	f.Add(gguftest.File(more, weights))
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		g, err := opened(data)
		if err != nil {
			return
		}
		for _, one := range g.Config().Tensors() {
			if one.Elements() < 1<<16 {
				_, _ = Whole(g, one) // an error, never a panic
			}
		}
	})
}
