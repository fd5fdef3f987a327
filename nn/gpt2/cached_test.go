package gpt2

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/tensor"
)

// TestCachedAttend: the errors of a cache are as large as its format's, and a token's own error does not
// depend on those behind it.
func TestCachedAttend(t *testing.T) {
	const seq, heads, hidden = 70, 2, 32
	var in [3]*tensor.Tensor
	for i := range in {
		x, err := tensor.Random(tensor.Normal, 3, uint32(i), 1, seq, hidden)
		require.NoError(t, err)
		in[i] = x
	}
	for i := range in[1].Data { // a channel of keys that is far from 0
		if i%16 == 3 {
			in[1].Data[i] += 20
		}
	}
	want, err := PlainAttend(in[0], in[1], in[2], heads, true)
	require.NoError(t, err)
	off := map[string]float64{}
	for _, cache := range Caches {
		attend, err := CachedAttend(cache)
		require.NoError(t, err)
		got, err := attend(in[0], in[1], in[2], heads, true)
		require.NoError(t, err)
		for i, x := range got.Data {
			off[cache] += math.Pow(float64(x-want.Data[i]), 2) / float64(len(got.Data))
		}
		off[cache] = math.Sqrt(off[cache])
		part := [3]*tensor.Tensor{}
		for i, x := range in {
			part[i] = &tensor.Tensor{Shape: []int{1, 45, hidden}, Data: x.Data[:45*hidden]}
		}
		shorter, err := attend(part[0], part[1], part[2], heads, true)
		require.NoError(t, err)
		assert.Equal(t, shorter.Data, got.Data[:45*hidden], "%s: nothing that comes later is seen", cache)
		if cache == "kivi" {
			assert.Less(t, off[cache], off["int4"]/2)
			for i := range 31 * hidden { // a group is open for so long
				assert.InDelta(t, want.Data[i], got.Data[i], 0.02)
			}
		}
	}
	assert.Less(t, off["halves"], 2e-3)
	assert.Less(t, off["int8"], 0.05)
	assert.Greater(t, off["int4"], 0.1)
	_, err = CachedAttend("int2")
	assert.ErrorContains(t, err, "there is halves, int8, int4, kivi")
	attend, _ := CachedAttend("kivi")
	_, err = attend(in[0], in[1], in[2], heads, false)
	assert.ErrorContains(t, err, "causal")
}
