package b2

import (
	"flashlab/grader/tasks/shared"
)

// mistakes are this task's own.
func mistakes(a shared.Mixed) []shared.Mistake {
	return []shared.Mistake{{Out: asOther(a), Says: "the bits are read as the other type: float16 and bfloat16 are different numbers of 16 bits (is the macro that chooses between them defined?)"}}
}

// asOther is what a kernel of the other type makes of the inputs' bits, and its output's bits as
// numbers of this one.
func asOther(a shared.Mixed) func() []float64 {
	return func() []float64 {
		theirs := a
		theirs.Q, theirs.K, theirs.V = shared.ReadAsOther(a.Type, a.Q), shared.ReadAsOther(a.Type, a.K), shared.ReadAsOther(a.Type, a.V)
		return shared.WrittenAsOther(a.Type, theirs.As(shared.Deviation{}))
	}
}
