package task5

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
)

// timedDecode is what timing needs of decoding, split or not: they differ in the shape for the
// simulator alone.
func timedDecode(small ...int) *judge.Timed {
	return &judge.Timed{
		Small:    small,
		SelfTest: rubric.Rung{Op: "decode", Shape: []int{16, 32, 32, 1024, 128}},
		Piece:    func(c problem.Problem) int { return c.Decode().Dim },
		Truth: func(c problem.Problem, from int) judge.Truth {
			q, k, v := shared.DecodePiece(c, from)
			return shared.OneRow(q, k, v, c.Sizes["dim"])
		},
		FLOPS: shared.DecodeFLOPS,
	}
}
