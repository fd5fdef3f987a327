package quant

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestACacheByHand is the example of the handout.
func TestACacheByHand(t *testing.T) {
	codes := make([]uint8, 4)
	scale, low := Asymmetric4(codes, []float32{1, 2, 4, 8.5})
	assert.Equal(t, []uint8{0, 2, 6, 15}, codes)
	assert.Equal(t, []float32{0.5, 1}, []float32{scale, low})
	scale, low = Asymmetric4(codes, []float32{1, -3, 4, 8.5})
	assert.Equal(t, []uint8{5, 0, 9, 15}, codes)
	assert.Equal(t, []float32{0x1.888p-1, -3}, []float32{scale, low})
	assert.InDelta(t, 0.833, Number4(5, scale, low), 1e-3)

	eight := make([]int8, 3)
	scale = Symmetric8(eight, []float32{-2, 1, 0})
	assert.Equal(t, []int8{-127, 64, 0}, eight, "63.5 steps and a bit: the scale was rounded towards zero")
	assert.LessOrEqual(t, scale, float32(2)/127)
	assert.Equal(t, -127*scale, Number8(-127, scale))
}

func TestWhatIsRareInACache(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, x := range [][]float32{{0, 0}, {1.5, 1.5}, {-65504, -65504}, {0x1p-24, 0x1p-24}} {
		codes := make([]uint8, 2)
		scale, low := Asymmetric4(codes, x)
		assert.Zero(t, scale)
		assert.Equal(t, x[1], Number4(codes[1], scale, low), "equal numbers are exact")
	}
	for _, x := range [][]float32{{1, nan, 3}, {inf, 2, 3}} {
		codes, eight := []uint8{9, 9, 9}, []int8{9, 9, 9}
		scale, low := Asymmetric4(codes, x)
		assert.True(t, math.IsNaN(float64(scale)))
		assert.Zero(t, low)
		assert.Equal(t, []uint8{0, 0, 0}, codes)
		assert.True(t, math.IsNaN(float64(Number4(codes[0], scale, low))))
		assert.True(t, math.IsNaN(float64(Symmetric8(eight, x))))
		assert.Equal(t, []int8{0, 0, 0}, eight)
	}
	codes := make([]uint8, 2)
	scale, low := Asymmetric4(codes, []float32{65504, -65504})
	assert.False(t, math.IsInf(float64(Number4(codes[0], scale, low)), 0), "no number grows")
}

// TestNumber4IsRoundedOnce: to the nearest half, and of two to the even one.
func TestNumber4IsRoundedOnce(t *testing.T) {
	assert.Equal(t, float32(0x1.004p0), Number4(1, 0x1.004p-11, 1), "just above a tie")
	assert.Equal(t, float32(1), Number4(1, 0x1p-11, 1), "a tie")
	assert.Equal(t, float32(2048), Number4(1, 0x1p-24, 2048))
	assert.Equal(t, float32(2050), Number4(15, 0x1.112p-4, 2048), "just above 2049, which is a tie")
	assert.Equal(t, float32(-3), Number4(0, 0x1.888p-1, -3))
}
