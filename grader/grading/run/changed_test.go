package run

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/verdict"
)

func TestWhoWritesToAnInput(t *testing.T) {
	w := problem.Problem{Outputs: []problem.Tensor{{Name: "y"}}}
	v := verdict.Outcome{Passed: true}
	changed(&v, "x, first at [0, 0]", w)
	assert.Equal(t, "the values are right, but the call changed its input x, first at [0, 0]: inputs must stay as they are; write to y instead", v.Reason)
	v = verdict.Outcome{Reason: "wrong values in 7 of 9 rows"}
	changed(&v, "x", w)
	assert.Equal(t, "wrong values in 7 of 9 rows", v.Reason)
	assert.Equal(t, []string{"the call changed its input x"}, v.Details)
	v = verdict.Outcome{Reason: judge.NothingWritten + ": every element is as it was"}
	changed(&v, "x", w)
	assert.Equal(t, "nothing was written to y, but to its input x: are the two exchanged where the kernel is launched?", v.Reason)
}
