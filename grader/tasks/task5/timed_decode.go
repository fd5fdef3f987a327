package task5

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
)

// timedDecode is what timing needs of decoding, split or not: they differ in the shape for the
// simulator alone.
func timedDecode(small ...int) *judge.Timed {
	return &judge.Timed{
		Counted:  2,
		Small:    small,
		Title:    title,
		Memory:   true,
		SelfTest: rubric.Rung{Op: "decode", Shape: []int{16, 32, 32, 1024, 128}},
		Piece:    func(c problem.Problem) int { return c.Decode().Dim },
		Truth: func(c problem.Problem, from int) judge.Truth {
			q, k, v := shared.DecodePiece(c, from)
			return shared.OneRow(q, k, v, c.Sizes["dim"])
		},
		FLOPS: shared.DecodeFLOPS,
	}
}

// title is the same for both: a split has one more size, its parts.
func title(n []int, _ bool) (name, id string) {
	if len(n) == 6 {
		return fmt.Sprintf("decoding in %d parts, batch %d, %d heads × %d, context %d", n[5], n[0], n[1], n[4], n[3]),
			fmt.Sprintf("split-%d-%d-%d", n[0], n[3], n[5])
	}
	return fmt.Sprintf("decoding, batch %d, %d heads × %d, %d key heads, context %d", n[0], n[1], n[4], n[2], n[3]),
		fmt.Sprintf("decode-%d-%d-%d", n[0], n[2], n[3])
}
