package shared

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
)

var timedSoftmax = &judge.Timed{
	Baseline:          "copy", // which leaves the input where the output belongs
	BaselineElsewhere: true,
	Counted:           4096,
	Small:             []int{5, 113, 1},
	SelfTest:          softmaxSelfTest,
	Piece:             func(c problem.Problem) int { return c.Softmax().Len * c.Softmax().Inner },
	Truth: func(c problem.Problem, from int) judge.Truth {
		s := c.Softmax()
		return SoftmaxTruth(judge.InputPart(c, 0, from, s.Len*s.Inner), judge.Layout{Outer: 1, Len: s.Len, Inner: s.Inner})
	},
	Title: func(n []int, _ bool) (string, string) {
		return fmt.Sprintf("softmax, %d rows of %d", n[0], n[1]), fmt.Sprintf("softmax-%d-%d", n[0], n[1])
	},
	Memory: true,
	FLOPS:  func(c problem.Problem) float64 { return 5 * float64(c.Softmax().Elements()) },
}

// softmaxSelfTest serves products, too: the same worker does both.
var softmaxSelfTest = rubric.Rung{Op: "softmax", Shape: []int{1 << 16, 1024, 1}}
