package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/price"
	"flashlab/grader/bench/ways"
	"flashlab/nn/gguf/gguftest"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/llama3"
	"flashlab/nn/lm"
	"flashlab/nn/safetensors/safetensorstest"
	"flashlab/tensor"
)

const config = `{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
	"head_dim": 64, "num_hidden_layers": 2, "intermediate_size": 256, "max_position_embeddings": 4096, "vocab_size": 425, "rms_norm_eps": 1e-5,
	"rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 1024, "rope_type": "llama3"},
	"tie_word_embeddings": false, "bos_token_id": 420, "eos_token_id": [421, 422]}`

// begin is the token that this model's texts begin with.
const begin = 420

// folder is a tiny Llama as Hugging Face writes it: two shards, and a trained tokenizer.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	c, err := llama3.ParseConfig([]byte(config))
	require.NoError(t, err)
	weights, err := llama3.Random(c, 5)
	require.NoError(t, err)
	shards := []map[string]*tensor.Tensor{{}, {}}
	names := []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}
	where := map[string]string{}
	for i, one := range c.Tensors() {
		x, err := llama3.Whole(weights, one)
		require.NoError(t, err)
		shards[i%2][one.Name], where[one.Name] = &tensor.Tensor{Shape: one.Shape, Data: x}, names[i%2]
	}
	for i, name := range names {
		write(name, safetensorstest.File(t, shards[i]))
	}
	index, err := json.Marshal(map[string]any{"weight_map": where})
	require.NoError(t, err)
	write("model.safetensors.index.json", index)
	write("config.json", []byte(config))
	tokenizer, err := os.ReadFile("../../../../nn/gpt2/bpe/testdata/llama/tokenizer.json")
	require.NoError(t, err)
	write("tokenizer.json", tokenizer)
	return dir
}

// said runs the program, and gives what it printed.
func said(t *testing.T, args ...string) (string, error) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	was := os.Stdout
	os.Stdout = w
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		text <- string(all)
	}()
	failed := run(append([]string{"-device", "sim", "-out", t.TempDir()}, args...))
	os.Stdout = was
	require.NoError(t, w.Close())
	return <-text, failed
}

// TestAFolderWrites: from a text to tokens, through the model with everything in four bits, and back to a text.
func TestAFolderWrites(t *testing.T) {
	dir := folder(t)
	out, err := said(t, "-model", dir, "-prompt", "In optics", "-tokens", "2", "-ways", "5")
	require.NoError(t, err)
	assert.Contains(t, out, "prompts: \"In optics\"\nweights: model.safetensors.index.json of "+dir)
	assert.NotContains(t, out, "random")
	assert.Regexp(t, `(?s)as each way goes on:\nall: ".+"\n`, out)
}

// TestAGGUFFileWrites: its tokenizer is in its metadata, its heads are odd in number, and its rows end within a group of four
// bits.
func TestAGGUFFileWrites(t *testing.T) {
	c := llama3.Config{Width: 200, Heads: 3, KVHeads: 1, Dim: 64, Layers: 1, Inner: 136, Positions: 4096, Vocabulary: 340, Epsilon: 1e-5, Rotary: 100000, Tied: true, Begin: -1}
	w, err := llama3.Random(c, 5)
	require.NoError(t, err)
	all := map[string]*tensor.Tensor{}
	for _, one := range c.Tensors() {
		x, err := llama3.Whole(w, one)
		require.NoError(t, err)
		all[one.Name] = &tensor.Tensor{Shape: one.Shape, Data: x}
	}
	m, weights := gguftest.Llama(gguftest.Shape{Width: 200, Heads: 3, KVHeads: 1, Dim: 64, Layers: 1, Inner: 136, Positions: 4096, Rotary: 100000, Epsilon: 1e-5}, all)
	tokens, err := os.ReadFile("../../../../nn/gpt2/bpe/testdata/smollm/tokenizer.json")
	require.NoError(t, err)
	gguftest.Vocabulary(t, m, tokens)
	file := filepath.Join(t.TempDir(), "small.gguf")
	require.NoError(t, os.WriteFile(file, gguftest.File(m, weights), 0o600))
	out, err := said(t, "-model", file, "-prompt", "In optics", "-tokens", "2", "-ways", "1,4")
	require.NoError(t, err)
	assert.Contains(t, out, "weights: "+file+"\n")
	assert.Regexp(t, `(?s)as each way goes on:\nhalves: ".+"\n\+ W4A16 weights: ".+"\n`, out)
}

// TestPerplexityOfAText: the program's perplexity in halves is plain Go's, on the same tokens.
func TestPerplexityOfAText(t *testing.T) {
	dir, out := folder(t), t.TempDir()
	text := filepath.Join(out, "text")
	const words = "In optics, a lens bends what passes through it."
	require.NoError(t, os.WriteFile(text, []byte(words), 0o600))
	printed, err := said(t, "-out", out, "-model", dir, "-perplexity", text, "-prompt-tokens", "5", "-tokens", "2", "-ways", "1")
	require.NoError(t, err)
	assert.Contains(t, printed, "prompts: from "+text)
	assert.Contains(t, printed, "on the text's own 2 tokens")
	report, plain, k := written(t, dir, out)
	tokens, sum := k.Encode(words)[:7], 0.0
	require.NoError(t, plain.Each(tokens, func(i int, logits []float32) error {
		if i >= 4 && i < 6 {
			all := 0.0
			for _, x := range logits {
				all += math.Exp(float64(x))
			}
			sum += math.Log(all) - float64(logits[tokens[i+1]])
		}
		return nil
	}))
	assert.InEpsilon(t, math.Exp(sum/2), report.Results[0].Perplexity, 0.01)
	_, err = said(t, "-model", dir, "-perplexity", text, "-batch", "9")
	assert.ErrorContains(t, err, "a longer text, or fewer tokens")
}

// written is the report that a run left in out; and the same folder's model in plain Go, with its tokenizer.
func written(t *testing.T, dir, out string) (report ways.Report, plain *llama3.Reference, k *bpe.Tokenizer) {
	data, err := os.ReadFile(filepath.Join(out, "ways.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &report))

	files, err := llama3.Open(os.DirFS(dir))
	require.NoError(t, err)
	t.Cleanup(func() { _ = files.Close() })
	plain, err = llama3.NewReference(files)
	require.NoError(t, err)
	k, err = ways.Tokenizer(os.DirFS(dir), files)
	require.NoError(t, err)
	return report, plain, k
}

// TestPiecesThatBegin: with BEGIN, halves and KIVI have the perplexity of the pieces that `make price` cuts, on which plain Go
// has the same, and each has its standard error.
func TestPiecesThatBegin(t *testing.T) {
	dir, out := folder(t), t.TempDir()
	text := filepath.Join(out, "text")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("In optics, a lens bends what passes through it. ", 9)), 0o600))
	args := []string{"-out", out, "-model", dir, "-perplexity", text, "-begin", "<|begin_of_text|>", "-batch", "3", "-prompt-tokens", "1", "-tokens", "7", "-ways", "2,3"}
	printed, err := said(t, args...)
	require.NoError(t, err)
	assert.Contains(t, printed, "each of which begins with <|begin_of_text|>")
	assert.Regexp(t, `our attention .* ± .* \(\+0\.00 ± 0\.00\)`, printed)
	report, plain, k := written(t, dir, out)
	passages, err := price.Passages(text)
	require.NoError(t, err)
	for i, piece := range price.Pieces(k, passages, 8, begin)[:3] {
		sum := 0.0
		require.NoError(t, plain.Each(piece, func(at int, logits []float32) error {
			if at < 7 {
				sum += lm.Surprise(logits, piece[at+1])
			}
			return nil
		}))
		for _, r := range report.Results {
			require.Len(t, r.Surprises, 3)
			assert.InDelta(t, sum/7, r.Surprises[i], 0.02, r.Way.Name)
		}
	}
	_, err = said(t, append(args, "-batch", "60")...)
	assert.ErrorContains(t, err, "pieces of 8 tokens, and BATCH asks for 60")
	_, err = said(t, "-model", dir, "-perplexity", text, "-begin", "<|none|>")
	assert.ErrorContains(t, err, "BEGIN=<|none|> is no special token")
}

func TestStretchesOfAText(t *testing.T) {
	dir := os.DirFS(folder(t))
	c, err := llama3.ParseConfig([]byte(config))
	require.NoError(t, err)
	weights, err := llama3.Random(c, 5)
	require.NoError(t, err)
	k, err := ways.Tokenizer(dir, weights)
	require.NoError(t, err)
	const text = "In optics, a lens bends what passes through it."
	tokens := k.Encode(text)[1:] // without what it begins with
	w := ways.Workload{Shape: "tiny", Batch: 2, Prompt: 3, Tokens: 2}
	require.NoError(t, find(&w, ""))
	w.Llama = c
	w.Config.Vocabulary = c.Vocabulary
	require.NoError(t, w.Follow(k, "text", text))
	assert.Equal(t, [][]int32{{begin, tokens[0], tokens[1]}, {begin, tokens[4], tokens[5]}}, w.Text.Prompts)
	assert.Equal(t, [][]int32{{tokens[2], tokens[6]}, {tokens[3], tokens[7]}}, w.Text.Next)
}

func TestWhatFoldersLack(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string) error
		want   string
	}{
		"a shard":   {func(dir string) error { return os.Remove(filepath.Join(dir, "model-00002-of-00002.safetensors")) }, "the shard model-00002-of-00002.safetensors is missing"},
		"words":     {func(dir string) error { return os.Remove(filepath.Join(dir, "tokenizer.json")) }, "the folder has none"},
		"a Llama":   {replaced(`"LlamaForCausalLM"`, `"MambaForCausalLM"`), "only LlamaForCausalLM can be read"},
		"its shape": {replaced(`"intermediate_size": 256`, `"intermediate_size": 384`), "config.json asks for"},
	} {
		dir := folder(t)
		require.NoError(t, c.change(dir), name)
		_, err := said(t, "-model", dir, "-prompt", "In optics")
		assert.ErrorContains(t, err, c.want, name)
		assert.ErrorContains(t, err, dir, name)
	}
	for want, args := range map[string][]string{
		"PROMPT is empty":     {"-model", ".", "-prompt", ""},
		"go with MODEL":       {"-prompt", "In optics"},
		"BEGIN goes with":     {"-model", ".", "-begin", "x"},
		"want one of them":    {"-model", ".", "-prompt", "In optics", "-perplexity", "x"},
		"as many tokens as":   {"-model", ".", "-prompt", "In optics", "-prompt-tokens", "5"},
		"config.json is miss": {"-model", t.TempDir()},
	} {
		_, err := said(t, args...)
		assert.ErrorContains(t, err, want)
	}
}

func replaced(old, new string) func(dir string) error {
	return func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "config.json"), []byte(strings.Replace(config, old, new, 1)), 0o600)
	}
}
