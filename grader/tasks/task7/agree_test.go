package task7

import (
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/task6"
	"flashlab/nn/gpt2"
	"flashlab/tensor"
)

// TestTheOracleAgrees: the grader's own evaluation, in float64 and without a cache,
// was written apart from package gpt2.
func TestTheOracleAgrees(t *testing.T) {
	w, err := gpt2.Random(gpt2.Config{Width: 51, Heads: 3, Layers: 2, Positions: 37, Vocabulary: 113, Inner: 203, Epsilon: 1e-5}, 5)
	require.NoError(t, err)
	r, err := gpt2.NewReference(w, nil)
	require.NoError(t, err)
	o, err := gpt2Oracle(w)
	require.NoError(t, err)
	text := []int{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}
	want := GPT2Logits[float64](o, text, 0, task6.Slip{})
	var tokens []int32
	for _, token := range text {
		tokens = append(tokens, int32(token))
	}
	var got []float32
	require.NoError(t, r.Each(tokens, func(_ int, logits []float32) error { got = append(got, logits...); return nil }))
	diff := tensor.Compare(got, want)
	require.True(t, diff.Within(2e-6*diff.WantRMS), "%+v", diff)
}
