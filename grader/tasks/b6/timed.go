package b6

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Baseline is the same in float32, by the vendor's products.
const Baseline = "unfused in float32, cuBLAS"

func timed(name string, ty tensor.Type) *judge.Timed {
	return &judge.Timed{
		Small:    []int{2, 4, 2, 40, 64},
		SelfTest: rubric.Rung{Op: name, Shape: []int{16, 32, 8, 4096, 128}},
		Baseline: Baseline,
		Piece:    func(c problem.Problem) int { return c.Decode().Dim },
		Truth: func(c problem.Problem, from int) judge.Truth {
			q, k, v := shared.DecodePiece(c, from)
			return shared.OneMixed(ty, q, k, v).Truth().AnyRow()
		},
		FLOPS: shared.DecodeFLOPS,
		Held:  shared.Twice,
	}
}

// StepOf is the workload of 32 query heads × 128 over 8 key heads, with so many tokens each.
func StepOf(batch, tokens int, peers ...string) race.Workload {
	return race.Workload{Name: fmt.Sprintf("decoding in float16, batch %d, 32 heads × 128, 8 key heads, context %d", batch, tokens),
		ID: fmt.Sprintf("decode16-%d-%d", batch, tokens), Task: "b6", Op: "decode_float16", Traffic: true,
		Shape: []int{batch, 32, 8, tokens, 128}, Peers: peers}
}
