package tensor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFillDoesNotDependOnWhereItStarts(t *testing.T) {
	for _, d := range Dists {
		whole, err := Random(d, 7, 1, 1000)
		require.NoError(t, err)
		part := make([]float32, 100)
		require.NoError(t, Fill(part, d, 7, 1, 450))
		assert.Equal(t, whole.Data[450:550], part, string(d))
	}
}

func TestFillHasTheMomentsItPromises(t *testing.T) {
	x, err := Random(Normal, 42, 0, 1<<16)
	require.NoError(t, err)
	var sum, square float64
	for _, v := range x.Data {
		sum += float64(v)
		square += float64(v) * float64(v)
	}
	n := float64(len(x.Data))
	assert.InDelta(t, 0, sum/n, 0.02)
	assert.InDelta(t, 2/math.Sqrt(3), math.Sqrt(square/n), 0.02)
}

func TestSeedsAndStreamsDiffer(t *testing.T) {
	a, _ := Random(Normal, 1, 0, 64)
	b, _ := Random(Normal, 2, 0, 64)
	c, _ := Random(Normal, 1, 1, 64)
	assert.NotEqual(t, a.Data, b.Data)
	assert.NotEqual(t, a.Data, c.Data)
}

func TestFillRefusesAnUnknownDistribution(t *testing.T) {
	assert.ErrorContains(t, Fill(make([]float32, 1), "gauss", 1, 0, 0), "gauss")
}

func TestCompareNeverLetsNaNPass(t *testing.T) {
	d := Compare([]float32{1, float32(math.NaN()), 3}, []float64{1, 2, 3})
	assert.False(t, d.Within(math.Inf(1)))
	assert.Equal(t, 1, d.Worst)
	d = Compare([]float32{1, float32(math.Inf(1)), 3}, []float64{1, 2, 3})
	assert.False(t, d.Within(math.Inf(1)))
}
