package score

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/verdict"
)

func TestAHeldCheckHasNoPoints(t *testing.T) {
	suspect := one(true, 100)
	suspect.Case.Suspect, suspect.Case.Facts, suspect.Case.Again = "too good", "moved 3 bytes", "make grade"
	v := verdict.Verdict{Checks: []verdict.Check{scores(suspect, one(true, 100)), scores(one(true, 100))}}
	v.Checks[1].ID = "gemm"
	Finish(&v)
	assert.Equal(t, []verdict.Held{{Check: "softmax", Reason: "too good", Evidence: "softmax/a: moved 3 bytes", Reproduce: "make grade"}}, v.Held)
	got, most := v.Points()
	assert.InDelta(t, 2, got, 1e-9, "those of the other check")
	assert.InDelta(t, 2, most, 1e-9)
	assert.False(t, v.Full())
	assert.Equal(t, verdict.Awaiting, v.Checks[0].Part("correctness").NotMeasured)
}
