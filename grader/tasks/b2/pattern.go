package b2

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// mistakes are this task's own.
func mistakes(a shared.Mixed) []judge.Mistake {
	return []judge.Mistake{shared.AsOtherType(a.Type, a.Q, a.K, a.V, func(q, k, v []float32) []float64 {
		return shared.Mixed{S: a.S, Q: q, K: k, V: v}.As(shared.Deviation{})
	})}
}
