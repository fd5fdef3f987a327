package shared

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/tensor"
)

// All of a row's weights are the same, and a kernel that keeps them relative to another number than the largest
// score rounds each by half its last bit, in the same direction. It is right; twice the plain way's error, which
// rounds no weight here, is less.
func TestAnyRowAllowsWhatOneWeightsRoundingMayCost(t *testing.T) {
	const dim, keys = 128, 50
	for ty, lastBit := range map[tensor.Type]float32{tensor.Float16: 0x1p-10, tensor.BFloat16: 0x1p-7} {
		q, k, v := make([]float32, dim), make([]float32, keys*dim), make([]float32, keys*dim)
		require.NoError(t, tensor.Fill(v, tensor.Normal, 3, 1, 0))
		for i := range v { // much alike, so that errors of one direction add up, and not all of them a number of the type
			v[i] = v[i%dim] + v[i]/32
		}
		ty.Round(v)
		a := OneMixed(ty, q, k, v)
		round := Rounder(ty)
		weights := func(base float32) []float32 {
			return a.Compute(Way{P: func(x float32) float32 { return round(x*base) / base }, Out: round})
		}
		unlucky := weights(1 + 0.499*lastBit)
		assert.False(t, a.Truth().Judge(unlucky).Passed, "%v: nothing to allow", ty)
		j := a.Truth().AnyRow().Judge(unlucky)
		assert.True(t, j.Passed, "%v: %+v", ty, j)
		assert.Contains(t, j.Times, "half its last bit")
		for i := range unlucky { // a bit of the weights less
			unlucky[i] = round(unlucky[i] * (1 - lastBit/2))
		}
		assert.False(t, a.Truth().AnyRow().Judge(unlucky).Passed, "%v", ty)
	}
}
