package run

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/verdict"
)

func TestACountThatCannotBeEarnsNothing(t *testing.T) {
	w := problem.Problem{Inputs: []problem.Tensor{{Shape: []int{2, 3}}}, Outputs: []problem.Tensor{{Shape: []int{4}}}}
	for moved, passes := range map[uint64]bool{0: false, 39: false, 40: true, 400: true} {
		v := verdict.Outcome{Passed: true}
		tooLittle(&v, w, map[string]uint64{problem.Moved: moved})
		assert.Equal(t, passes, v.Passed, "%d bytes", moved)
		assert.Equal(t, passes, v.Reason == "", v.Reason)
	}
	v := verdict.Outcome{Passed: true}
	tooLittle(&v, w, nil)
	assert.True(t, v.Passed, "nothing was counted")
}
