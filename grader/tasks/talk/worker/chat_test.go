package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
	"flashlab/nn/gguf/gguftest"
	"flashlab/nn/llama3"
	"flashlab/tensor"
)

// talkingFile is a small random model in a GGUF file, whose heads are as wide as b2 and b6 want them.
func talkingFile(t *testing.T, dim int) string {
	t.Helper()
	c := llama3.Config{Width: 48, Heads: 3, KVHeads: 1, Dim: dim, Layers: 2, Inner: 20, Positions: 300, Vocabulary: 340, Epsilon: 1e-5, Rotary: 10000, Tied: true, Begin: -1}
	w, err := llama3.Random(c, 3)
	require.NoError(t, err)
	all := map[string]*tensor.Tensor{}
	for _, one := range c.Tensors() {
		x, err := llama3.Whole(w, one)
		require.NoError(t, err)
		all[one.Name] = &tensor.Tensor{Shape: one.Shape, Data: x}
	}
	m, weights := gguftest.Llama(gguftest.Shape{Width: 48, Heads: 3, KVHeads: 1, Dim: dim, Layers: 2, Inner: 20, Positions: 300, Rotary: 10000, Epsilon: 1e-5}, all)
	root, err := repo.Root()
	require.NoError(t, err)
	tokens, err := os.ReadFile(filepath.Join(root, "nn", "gpt2", "bpe", "testdata", "smollm", "tokenizer.json"))
	require.NoError(t, err)
	gguftest.Vocabulary(t, m, tokens)
	file := filepath.Join(t.TempDir(), "small.gguf")
	require.NoError(t, os.WriteFile(file, gguftest.File(m, weights), 0o600))
	return file
}

func conversation(file, typed string, more ...string) (string, error) {
	var out bytes.Buffer
	p := talker
	p.In, p.Out = strings.NewReader(typed), &out
	err := p.Run(append([]string{"-model", file, "-device=sim", "-tokens=6"}, more...))
	return out.String(), err
}

// TestHalvesSayTheSame: the answer on attention in halves is that of plain Go in float32, beside which it is set.
func TestHalvesSayTheSame(t *testing.T) {
	out, err := conversation(talkingFile(t, 64), "", "-ref", "-prompt=what is it")
	require.NoError(t, err)
	assert.Contains(t, out, "with the kernels of b2 and b6, in halves, and the layer of task 6; weights, projections and MLP in float32\n")
	assert.Contains(t, out, "your kernels: the same 6 tokens as the reference\n")
}

// TestWhatDoesNotTalkInHalves: a head that b2 has no kernel for, and what belongs to the other worker.
func TestWhatDoesNotTalkInHalves(t *testing.T) {
	file := talkingFile(t, 32)
	_, err := conversation(file, "what\n")
	assert.ErrorContains(t, err, "the head dimension is 64 or 128 here")
	assert.ErrorContains(t, err, "make grade TASK=b2 tests it on its own")
	_, err = conversation(file, "what\n", "-cache=kivi")
	assert.ErrorContains(t, err, "CACHE goes with KERNELS=go")
	_, err = conversation(file, "what\n", "-kernels=own")
	assert.ErrorContains(t, err, "-kernels own: want halves")
}
