package shared

import (
	"math"

	"flashlab/tensor"
)

// other is the other type of 16 bits.
func other(ty tensor.Type) tensor.Type {
	if ty == tensor.BFloat16 {
		return tensor.Float16
	}
	return tensor.BFloat16
}

// ReadAsOther are numbers of a type of 16 bits, their bits read as the other one's.
func ReadAsOther(ty tensor.Type, x []float32) []float32 { return other(ty).Decode(ty.Encode(x)) }

// WrittenAsOther are numbers that were written as the other type, their bits read as this one's.
func WrittenAsOther(ty tensor.Type, y []float64) []float64 {
	x := make([]float32, len(y))
	for i, v := range y {
		x[i] = float32(v)
	}
	out := make([]float64, len(y))
	for i, v := range ReadAsOther(other(ty), x) {
		out[i] = float64(v)
	}
	return out
}

// Apart is the root of the mean square between two outputs; not a number if one holds none.
func Apart(got, want []float32) float64 {
	var sum float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(want)))
}
