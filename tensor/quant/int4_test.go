package quant

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/tensor"
)

// TestINT4sErrorIsWithinHalfAStep, but for what rounding the scale to a half adds at a group's ends.
func TestINT4sErrorIsWithinHalfAStep(t *testing.T) {
	for _, asymmetric := range []bool{false, true} {
		for _, row := range []int{1, 113, 128, 129, 1000} {
			x := numbers(3*row, uint64(row))
			m, err := ToINT4(x, row, asymmetric)
			require.NoError(t, err)
			require.Len(t, m.Scales, 3*((row+127)/128))
			y := m.Numbers()
			blocks(m.Count, row, INT4Group, func(b, from, to int) {
				for i := from; i < to; i++ {
					assert.LessOrEqual(t, math.Abs(float64(y[i]-x[i])), 0.512*float64(m.Scales[b]), "row of %d, element %d", row, i)
				}
			})
			rounded := append([]float32{}, m.Scales...)
			tensor.Float16.Round(rounded)
			assert.Equal(t, rounded, m.Scales, "scales are halves")
			assert.Equal(t, len(m.Codes)+3*len(m.Scales), m.Bytes())
			again, err := ToINT4(y, row, asymmetric)
			require.NoError(t, err)
			assert.InDeltaSlice(t, y, again.Numbers(), 2e-3, "what is rounded stays nearly where it is")
		}
	}
}

// TestINT4ByHand: the order of the halves of a byte, the zero, ties, a group of zeros.
func TestINT4ByHand(t *testing.T) {
	m, err := ToINT4([]float32{-7, 7, 1, 2.5, 0}, 5, false)
	require.NoError(t, err)
	assert.Equal(t, INT4{5, 5, []byte{0xf1, 0xa9, 0x08}, []float32{1}, []byte{8}}, m)
	assert.Equal(t, []float32{-7, 7, 1, 2, 0}, m.Numbers())

	m, err = ToINT4([]float32{-5, 10, 0, 1}, 2, true)
	require.NoError(t, err)
	assert.Equal(t, []byte{5, 0}, m.Zeros)
	assert.Equal(t, []byte{0xf0, 0xf0}, m.Codes)
	assert.InDeltaSlice(t, []float32{-5, 10, 0, 1}, m.Numbers(), 1e-3)

	m, err = ToINT4(make([]float32, 3), 3, true)
	require.NoError(t, err)
	assert.Equal(t, make([]float32, 3), m.Numbers())
}

func TestINT4Refuses(t *testing.T) {
	_, err := ToINT4([]float32{1, float32(math.NaN())}, 2, false)
	assert.ErrorIs(t, err, ErrNotFinite)
	_, err = ToINT4(make([]float32, 5), 2, false)
	assert.ErrorContains(t, err, "no rows of 2")
	_, err = ToINT4([]float32{0, 1e6}, 2, false)
	assert.ErrorContains(t, err, "elements 0 to 1: their scale does not fit in a half")
}

// TestWhatINT4Costs: of normal numbers a tenth, a little less with a zero of one's own; of numbers that
// are all of one sign half, as every code is then of use.
func TestWhatINT4Costs(t *testing.T) {
	x := make([]float32, 512*INT4Group)
	require.NoError(t, tensor.Fill(x, tensor.Normal, 5, 0, 0))
	of := func(x []float32, asymmetric bool) float64 {
		m, err := ToINT4(x, INT4Group, asymmetric)
		require.NoError(t, err)
		return Error(x, m.Numbers())
	}
	assert.InDelta(t, 0.107, of(x, false), 0.003)
	assert.InDelta(t, 0.094, of(x, true), 0.003)
	for i, v := range x {
		x[i] = float32(math.Abs(float64(v)))
	}
	assert.InDelta(t, 0.5, of(x, true)/of(x, false), 0.05)
	assert.Zero(t, Error(x, x))
}
