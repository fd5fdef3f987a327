package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/talk"
	"flashlab/internal/repo"
	"flashlab/nn"
	"flashlab/nn/gpt2"
	task "flashlab/task7_gpt2"
)

func TestTheFirstDifferenceIsFound(t *testing.T) {
	assert.Equal(t, -1, talk.Differ([]int32{1, 2}, []int32{1, 2}))
	assert.Equal(t, 1, talk.Differ([]int32{1, 3, 5}, []int32{1, 2, 5}))
	assert.Equal(t, 2, talk.Differ([]int32{1, 2}, []int32{1, 2, 3}), "one ended")
	ref := talk.Writer{Name: "the reference", Tokens: []int32{15496, 995}}
	_, v, err := choices{model: "124M"}.open()
	require.NoError(t, err)
	assert.Equal(t, "x: the same 2 tokens as the reference", talk.Compared(talk.Writer{Name: "x", Tokens: ref.Tokens}, ref, v))
	assert.Equal(t, `x: the first difference is token 2, "Hello" where the reference has " world"`, talk.Compared(talk.Writer{Name: "x", Tokens: []int32{15496, 15496}}, ref, v))
	assert.Equal(t, `x: the first difference is token 2, nothing where the reference has "995"`, talk.Compared(talk.Writer{Name: "x", Tokens: ref.Tokens[:1]}, ref, nil))
	assert.Equal(t, "x: not there", talk.Compared(talk.Writer{Name: "x", Not: "not there"}, ref, v))
}

func TestTextsStandSideBySide(t *testing.T) {
	long := "one two three four five six seven eight nine ten eleven twelve"
	lines := talk.Columns(talk.Writer{Name: "a", Text: long + " thirteen"}, talk.Writer{Name: "b", Text: long + " and more"})
	assert.Equal(t, []string{
		"a                                              b",
		"────────────────────────────────────────────   ────────────────────────────────────────────",
		"one two three four five six seven eight nine   one two three four five six seven eight nine",
		"ten eleven twelve thirteen                   ≠ ten eleven twelve and more",
	}, lines)
}

// TestWhatIsNotComparedSaysWhy: no Python is asked where it could not answer.
func TestWhatIsNotComparedSaysWhy(t *testing.T) {
	assert.Contains(t, choices{sampler: nn.Sampler{Temperature: 1}}.huggingFace([]int32{1}, nil).Not, "draw other numbers")
	assert.Contains(t, choices{model: "124M"}.huggingFace([]int32{1}, nil).Not, "random weights")
}

// A model that fails costs its own column, and no other.
func TestAWriterThatFailsSaysSo(t *testing.T) {
	w, err := gpt2.Random(gpt2.Config{Width: 8, Heads: 2, Layers: 1, Positions: 9, Vocabulary: 17, Inner: 32, Epsilon: 1e-5}, 1)
	require.NoError(t, err)
	c := choices{tokens: 3}
	good := c.writes("good", w, nil, []int32{1, 2}, func(w gpt2.Weights) (*runner, error) { return inGo(w, nil) })
	assert.Empty(t, good.Not)
	assert.Len(t, good.Tokens, 3)
	assert.Regexp(t, `^1 2 \d+ \d+ \d+$`, good.Text)
	bad := c.writes("bad", w, nil, []int32{1, 2}, func(gpt2.Weights) (*runner, error) { return nil, mend(4, assert.AnError) })
	assert.Contains(t, bad.Not, "task4_flash")
}

// TestTheStubAndItsSolution: task 7's stub is the beginning of a text, and its solution the whole, as the
// reference in plain Go writes it.
func TestTheStubAndItsSolution(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	whole, err := os.ReadFile(filepath.Join(root, "task7_gpt2", "solution", "text.txt"))
	require.NoError(t, err)
	c := choices{prompt: task.Text(), tokens: 24}
	w, v, err := c.open()
	require.NoError(t, err)
	prompt, err := c.encode(v, w.Config())
	require.NoError(t, err)
	ref := c.writes("the reference", w, v, prompt, func(w gpt2.Weights) (*runner, error) { return inGo(w, nil) })
	require.Empty(t, ref.Not)
	assert.Equal(t, string(whole), ref.Text+"\n")
}
