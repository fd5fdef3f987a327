package gpt2

import (
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/grader/oracle"
	"flashlab/tensor"
)

// TestTheOracleAgrees: the grader's own evaluation, in float64 and without a cache,
// was written apart from this package.
func TestTheOracleAgrees(t *testing.T) {
	w, err := Random(small, 5)
	require.NoError(t, err)
	r, err := NewReference(w, nil)
	require.NoError(t, err)
	o := &oracle.GPT2{Width: small.Width, Heads: small.Heads, Layers: small.Layers, Inner: small.Inner, Epsilon: small.Epsilon, Weights: r.weights}
	text := []int{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}
	want := oracle.GPT2Logits[float64](o, text, 0, oracle.Slip{})
	var tokens []int32
	for _, token := range text {
		tokens = append(tokens, int32(token))
	}
	var got []float32
	require.NoError(t, r.Each(tokens, func(_ int, logits []float32) error { got = append(got, logits...); return nil }))
	diff := tensor.Compare(got, want)
	require.True(t, diff.Within(2e-6*diff.WantRMS), "%+v", diff)
}
