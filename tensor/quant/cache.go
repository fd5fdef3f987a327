package quant

import (
	"math"

	"flashlab/tensor"
)

// What a cache of keys and values is kept in: 8 bits around 0, or 4 bits from a lowest number on. Scales
// and lows are halves. Arithmetic is float32, rounded to the nearest, but a scale is rounded towards
// zero, so that no number becomes larger. An infinity or a NaN makes the scale NaN, and with it all
// numbers that share it.

// Symmetric8 is 8 bits: a number is code · scale, with the same scale for all of x. Their codes go to codes.
func Symmetric8(codes []int8, x []float32) (scale float32) {
	var largest float32
	for _, v := range x {
		largest = larger(largest, float32(math.Abs(float64(v))))
	}
	scale = halfBelow(largest / 127)
	for i, v := range x {
		codes[i] = int8(code(v/scale, scale, -127, 127))
	}
	return scale
}

// Asymmetric4 is 4 bits: a number is Number4(code, scale, low).
func Asymmetric4(codes []uint8, x []float32) (scale, low float32) {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range x {
		low, high = -larger(-low, -v), larger(high, v)
	}
	if scale = halfBelow((high - low) / 15); scale != scale {
		low = 0
	}
	for i, v := range x {
		codes[i] = uint8(code((v-low)/scale, scale, 0, 15))
	}
	return scale, low
}

// Number8 is what a code of 8 bits stands for: exactly that.
func Number8(code int8, scale float32) float32 { return float32(code) * scale }

// Number4 is what a code of 4 bits stands for: a half, rounded once.
func Number4(code uint8, scale, low float32) float32 {
	exact := float64(code)*float64(scale) + float64(low)
	// Rounded to odd, the float32 tells a half's rounding which side of a tie the number was on.
	x := float32(exact)
	if back := float64(x); back != exact && !math.IsNaN(exact) {
		if math.Abs(back) > math.Abs(exact) {
			x = math.Float32frombits(math.Float32bits(x) - 1)
		}
		x = math.Float32frombits(math.Float32bits(x) | 1)
	}
	one := []float32{x}
	tensor.Float16.Round(one)
	return one[0]
}

// larger is the larger one, or NaN if v is no finite half.
func larger(largest, v float32) float32 {
	if !(math.Abs(float64(v)) <= 65504) {
		return float32(math.NaN())
	}
	return max(largest, v)
}

// halfBelow rounds a scale to a half, towards zero.
func halfBelow(x float32) float32 {
	one := []float32{x}
	tensor.Float16.Round(one)
	if one[0] > x {
		bits := tensor.Float16.Encode(one)
		if bits[0]--; bits[0] == 255 {
			bits[1]--
		}
		one = tensor.Float16.Decode(bits)
	}
	return one[0]
}

// code rounds steps to a whole number, of two that are as near to the even one.
func code(steps, scale float32, least, most float64) float64 {
	if !(scale > 0) {
		return 0
	}
	return min(max(math.RoundToEven(float64(steps)), least), most)
}
