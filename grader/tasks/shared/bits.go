package shared

import (
	"flashlab/grader/grading/judge"
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
	return judge.Wide(ReadAsOther(other(ty), judge.Narrow(y)))
}
