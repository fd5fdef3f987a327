package b2

import (
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// mistakes are this task's own.
func mistakes(a shared.Mixed) []shared.Mistake {
	return []shared.Mistake{{Out: asOther(a), Says: "the bits are read as the other type: float16 and bfloat16 are different numbers of 16 bits (is the macro that chooses between them defined?)"}}
}

// asOther is what a kernel of the other type makes of the inputs' bits, and its output's bits as
// numbers of this one.
func asOther(a shared.Mixed) func() []float64 {
	return func() []float64 {
		other := tensor.BFloat16
		if a.Type == tensor.BFloat16 {
			other = tensor.Float16
		}
		theirs := func(x []float32) []float32 { return other.Decode(a.Type.Encode(x)) }
		y := shared.Mixed{S: a.S, Q: theirs(a.Q), K: theirs(a.K), V: theirs(a.V)}.As(shared.Variant{})
		bits := make([]float32, len(y))
		for i, v := range y {
			bits[i] = float32(v)
		}
		out := make([]float64, len(y))
		for i, v := range a.Type.Decode(other.Encode(bits)) {
			out[i] = float64(v)
		}
		return out
	}
}
