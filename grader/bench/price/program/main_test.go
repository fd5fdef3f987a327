package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/price"
	"flashlab/nn/gguf/gguftest"
	"flashlab/nn/llama3"
	"flashlab/tensor"
)

// folder is a tiny Llama whose tokenizer is there, too.
const folder = "../../../../nn/llama3/testdata"

func TestWhatCannotBeMeasured(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("some words. ", 10)), 0o644))
	for want, args := range map[string][]string{
		"no such file":                     {"-model=" + filepath.Join(dir, "none.gguf")},
		"WINDOWS=0":                        {"-windows=0"},
		"LENGTH=1":                         {"-length=1"},
		"flag provided but not defined":    {"-perhaps"},
		"the folder has no tokenizer.json": {"-model=" + filepath.Join(folder, "tied"), "-text=" + text},
	} {
		var said strings.Builder
		assert.ErrorContains(t, run(args, &said), want)
	}
	_, err := price.Passages(filepath.Join(dir, "none.txt"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// small is a Llama that was never trained, in a GGUF file.
func small(t *testing.T) string {
	c := llama3.Config{Width: 12, Heads: 2, KVHeads: 1, Dim: 6, Layers: 1, Inner: 8, Positions: 400, Vocabulary: 340, Epsilon: 1e-5, Rotary: 10000, Tied: true, Begin: -1}
	w, err := llama3.Random(c, 3)
	require.NoError(t, err)
	all := map[string]*tensor.Tensor{}
	for _, one := range c.Tensors() {
		x, err := llama3.Whole(w, one)
		require.NoError(t, err)
		all[one.Name] = &tensor.Tensor{Shape: one.Shape, Data: x}
	}
	m, weights := gguftest.Llama(gguftest.Shape{Width: 12, Heads: 2, KVHeads: 1, Dim: 6, Layers: 1, Inner: 8, Positions: 400, Rotary: 10000, Epsilon: 1e-5}, all)
	words, err := os.ReadFile("../../../../nn/gpt2/bpe/testdata/smollm/tokenizer.json")
	require.NoError(t, err)
	gguftest.Vocabulary(t, m, words)
	m["tokenizer.ggml.eos_token_id"] = uint32(2)
	path := filepath.Join(t.TempDir(), "small.gguf")
	require.NoError(t, os.WriteFile(path, gguftest.File(m, weights), 0o600))
	return path
}

// TestTheWholeCommand: a small model through all formats, on a text of one's own. It has no token to begin with, so one
// row says that it was not measured.
func TestTheWholeCommand(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("the cat sat on the mat, and that was that. ", 30)), 0o644))
	args := []string{"-model=" + small(t), "-text=" + text, "-about=a cat", "-windows=3", "-length=40", "-shown=2", "-out=" + filepath.Join(dir, "out")}
	var said strings.Builder
	require.NoError(t, run(args, &said))
	assert.Contains(t, said.String(), " 1 of 14: halves measured in")
	assert.Contains(t, said.String(), "no text begins with a token of its own here")
	data, err := os.ReadFile(filepath.Join(dir, "out", "price.json"))
	require.NoError(t, err)
	l, err := price.ReadList(data)
	require.NoError(t, err)
	require.Len(t, l.Rows, len(price.Formats))
	failed := 0
	for _, r := range l.Rows {
		if r.Failed != "" {
			failed++
			continue
		}
		assert.Len(t, r.Surprises, 3, r.Name)
		assert.Contains(t, said.String(), r.Name)
	}
	assert.Equal(t, 1, failed)

	said.Reset()
	require.NoError(t, run(append(args, "-resume"), &said))
	assert.Contains(t, said.String(), "14 of 14")
	assert.ErrorContains(t, run(append(args, "-resume", "-begin=<|im_start|>"), &said), "is of another model, on other texts")
	assert.ErrorContains(t, run(append(args, "-begin=<start>"), &said), "BEGIN=<start> is no special token of this model's")
	said.Reset()
	require.NoError(t, run(append(args, "-begin=<|im_start|>"), &said))
	assert.NotContains(t, said.String(), "failed", "the row without a token to begin with is measured, too")
	assert.Contains(t, said.String(), "each begins with <|im_start|>, as BEGIN asked, and so do the pieces that GPTQ is shown")
	assert.ErrorContains(t, run(append(args, "-windows=1000"), &said), "and WINDOWS asks for 1000")
	assert.ErrorContains(t, run(append(args, "-length=500"), &said), "LENGTH=500: the model has 400 positions")
}
