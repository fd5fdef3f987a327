package b6

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Baseline is attention in three steps, by the vendor's products of halves.
const Baseline = "unfused in halves, cuBLAS"

// Wide is the same in float32, for comparison.
const Wide = "unfused in float32, cuBLAS"

func timed(name string, ty tensor.Type) *judge.Timed {
	return &judge.Timed{
		Title: func(n []int, _ bool) (string, string) {
			return fmt.Sprintf("decoding in %s, batch %d, %d heads × %d, %d key heads, context %d", ty, n[0], n[1], n[4], n[2], n[3]),
				fmt.Sprintf("decode16-%d-%d", n[0], n[3])
		},
		Memory:   true,
		Counted:  4,
		Small:    []int{2, 4, 2, 40, 64},
		SelfTest: rubric.Rung{Op: name, Shape: []int{16, 32, 8, 4096, 128}},
		Baseline: Baseline,
		Wide:     Wide,
		Tensor:   1,
		Piece:    func(c problem.Problem) int { return c.Decode().Dim },
		Truth: func(c problem.Problem, from int) judge.Truth {
			q, k, v := shared.DecodePiece(c, from)
			return shared.OneMixed(ty, q, k, v).Truth().AnyRow()
		},
		FLOPS: shared.DecodeFLOPS,
		Held:  shared.Twice,
	}
}
