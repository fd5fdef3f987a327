package quant

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestNF4sTable: the quantiles of the normal distribution from a tail to one half, in eight steps
// above 0 and seven below, times what makes the last one 1.
func TestNF4sTable(t *testing.T) {
	const tail = 0.9677083
	largest := distuv.UnitNormal.Quantile(tail)
	quantile := func(step, steps int) float64 {
		return distuv.UnitNormal.Quantile(tail+(0.5-tail)*float64(step)/float64(steps)) / largest
	}
	for i, got := range NF4Table {
		want := 0.0
		if i > 7 {
			want = quantile(15-i, 8)
		} else if i < 7 {
			want = -quantile(i, 7)
		}
		assert.InDelta(t, want, got, 1e-6, "code %d", i)
	}
}

func TestTheDynamicTable(t *testing.T) {
	require.Len(t, DynamicTable, 256)
	assert.EqualValues(t, 1, DynamicTable[255])
	assert.EqualValues(t, 0, DynamicTable[127])
	assert.InDelta(t, -0.99296875, DynamicTable[0], 1e-6)
	assert.InDelta(t, 5.5e-7, DynamicTable[128], 1e-12)
	for i := range 126 {
		assert.Equal(t, -DynamicTable[i], DynamicTable[254-i])
	}
}

// TestDoubleQuantisedScales are near the scales, and the mean matters.
func TestDoubleQuantisedScales(t *testing.T) {
	x := numbers(300*NF4Block+5, 9)
	plain, err := ToNF4(x, false)
	require.NoError(t, err)
	double, err := ToNF4(x, true)
	require.NoError(t, err)
	assert.Equal(t, plain.Codes, double.Codes)
	require.Len(t, double.Double.Codes, 301)
	require.Len(t, double.Double.Scales, 2)
	for i, got := range double.Double.Numbers() {
		most := float64(double.Double.Scales[i/DoubleBlock])
		assert.InDelta(t, plain.Scales[i], got, most*0.0071, "scale %d", i) // half of the widest step, 0.9 / 64
	}
	forgotten := *double.Double
	forgotten.Mean = 0
	assert.Greater(t, math.Abs(float64(forgotten.Numbers()[100]-plain.Scales[100])), 1.0)
}
