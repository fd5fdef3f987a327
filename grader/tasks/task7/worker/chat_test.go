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

// talkingFile is a small random model in a GGUF file, which speaks ChatML.
func talkingFile(t *testing.T) string {
	t.Helper()
	c := llama3.Config{Width: 24, Heads: 3, KVHeads: 1, Dim: 8, Layers: 2, Inner: 20, Positions: 300, Vocabulary: 340, Epsilon: 1e-5, Rotary: 10000, Tied: true, Begin: -1}
	w, err := llama3.Random(c, 3)
	require.NoError(t, err)
	all := map[string]*tensor.Tensor{}
	for _, one := range c.Tensors() {
		x, err := llama3.Whole(w, one)
		require.NoError(t, err)
		all[one.Name] = &tensor.Tensor{Shape: one.Shape, Data: x}
	}
	m, weights := gguftest.Llama(gguftest.Shape{Width: 24, Heads: 3, KVHeads: 1, Dim: 8, Layers: 2, Inner: 20, Positions: 300, Rotary: 10000, Epsilon: 1e-5}, all)
	root, err := repo.Root()
	require.NoError(t, err)
	tokens, err := os.ReadFile(filepath.Join(root, "nn", "gpt2", "bpe", "testdata", "smollm", "tokenizer.json"))
	require.NoError(t, err)
	gguftest.Vocabulary(t, m, tokens)
	m["tokenizer.chat_template"] = "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' }}"
	file := filepath.Join(t.TempDir(), "small.gguf")
	require.NoError(t, os.WriteFile(file, gguftest.File(m, weights), 0o600))
	return file
}

// conversation is what `make chat` prints, in the simulator.
func conversation(t *testing.T, file, typed string, more ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	p := talker
	p.In, p.Out = strings.NewReader(typed), &out
	err := p.Run(append([]string{"-model", file, "-device=sim", "-tokens=4"}, more...))
	return out.String(), err
}

// TestAConversationOnAStudentsKernels: two questions, answered with the kernels of tasks 4 and 5 and the layer of task 6.
func TestAConversationOnAStudentsKernels(t *testing.T) {
	file := talkingFile(t)
	out, err := conversation(t, file, "what\n\nit's\n")
	require.NoError(t, err)
	assert.Contains(t, out, "on flashlab simulator, with the kernels of tasks 4 and 5 and the layer of task 6\nIn the simulator, without its checks, which belong to make grade.\nA token takes ")
	assert.Equal(t, 2, strings.Count(out, "\nmodel: "), "an empty line is no question")
	assert.Contains(t, out, "\nyou: what\nmodel: ")
	assert.Contains(t, out, "; 4 tokens; cut: an answer has 4 tokens at most)\n")

	given, err := conversation(t, file, "what\n", "-kernels=given")
	require.NoError(t, err)
	answer := func(s string) string {
		_, s, _ = strings.Cut(s, "\nmodel: ")
		s, _, _ = strings.Cut(s, "\n(")
		return s
	}
	assert.Equal(t, answer(given), answer(out), "keys and values of their own, or repeated: the same words")
	assert.Contains(t, given, "with the course's own kernels")
}

// TestFormatsTalk: the layers' matrices as a format keeps them, on a student's kernels; and the cache, too, in plain Go.
func TestFormatsTalk(t *testing.T) {
	file := talkingFile(t)
	asks := func(more ...string) string {
		out, err := conversation(t, file, "", append([]string{"-ref", "-prompt=what is it", "-tokens=40"}, more...)...)
		require.NoError(t, err)
		return out
	}
	plain := asks("-kernels=go")
	assert.Contains(t, plain, "in plain Go, weights in float32, keys and values in float32\n")
	assert.Contains(t, plain, "plain Go, float32, cache float32: the same 40 tokens as the reference\n")
	for _, cache := range []string{"kivi", "int4"} {
		assert.Contains(t, asks("-kernels=go", "-cache="+cache), "plain Go, float32, cache "+cache+": ")
	}
	assert.Contains(t, asks("-kernels=go", "-cache=kivi", "-weights=mxfp4"), "plain Go, mxfp4, cache kivi: the first difference is token ")
	on := asks("-weights=mxfp4", "-tokens=8")
	assert.Contains(t, on, "with the kernels of tasks 4 and 5")
	assert.Contains(t, on, "your kernels: the first difference is token ")
	_, err := conversation(t, file, "what\n", "-weights=int3")
	assert.ErrorContains(t, err, `there is no format "int3" of weights; there is int4, int4-zeros, mxfp4, nf4, nf4-double, nvfp4`)
	_, err = conversation(t, file, "what\n", "-kernels=go", "-cache=int3")
	assert.ErrorContains(t, err, `there is no cache "int3"`)
}

// TestAnAnswerBesideTheReference, which says the same.
func TestAnAnswerBesideTheReference(t *testing.T) {
	out, err := conversation(t, talkingFile(t), "", "-ref", "-prompt=what")
	require.NoError(t, err)
	assert.Contains(t, out, "your kernels")
	assert.Contains(t, out, "your kernels: the same 4 tokens as the reference\n")
	assert.NotContains(t, out, "≠")
}

func TestWhatCannotBeTalkedTo(t *testing.T) {
	file := talkingFile(t)
	for want, args := range map[string][]string{
		"PROMPT is empty: ask something":        {"-model", file, "-prompt="},
		"PROMPT is empty":                       {"-model", file, "-prompt=  "},
		"MODEL is empty":                        {},
		"REF goes with PROMPT":                  {"-model", file, "-ref"},
		"want own, given, go":                   {"-model", file, "-kernels", "mine"},
		"CACHE goes with KERNELS=go":            {"-model", file, "-cache", "kivi"},
		"TOKENS and POSITIONS: want 1 at least": {"-model", file, "-tokens", "-1"},
		"a temperature of -1":                   {"-model", file, "-temperature", "-1"},
		"no such file or directory":             {"-model", "none.gguf"},
		"kit.go: it does not begin with GGUF":   {"-model", "kit.go"},
	} {
		assert.ErrorContains(t, talker.Main(args), want)
	}
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, whole[:len(whole)-64], 0o600))
	assert.ErrorContains(t, talker.Main([]string{"-model", file}), "the file is cut short: fetch it again")
}
