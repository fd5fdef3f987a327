package pages

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// The command draws a case that students know, of a check in which something went wrong.
func TestFeedbackSaysHowToSeeACase(t *testing.T) {
	task := &rubric.Task{Name: "2", Device: "cuda"}
	good, bad, hidden := verdict.Outcome{Name: "1x2", Passed: true, Traffic: true}, verdict.Outcome{Name: "3x4"}, verdict.Outcome{Name: "secret", Hidden: true}
	check := verdict.Check{ID: "gemm", Cases: []verdict.Outcome{hidden, good}}
	assert.Empty(t, showOf(task, check), "of a hidden case nothing is said")
	check.Parts = []verdict.Part{{Name: "traffic", Score: 1, Max: 2}}
	assert.Equal(t, "make show TASK=2 CASE=gemm/1x2", showOf(task, check))
	check.Parts[0].Score = 2
	assert.Empty(t, showOf(task, check), "nothing went wrong")
	check.Cases = append(check.Cases, bad)
	assert.Equal(t, "make show TASK=2 CASE=gemm/3x4", showOf(task, check))
	check.Findings = []verdict.Found{{}, {Case: "5x6"}}
	assert.Equal(t, "make show TASK=2 CASE=gemm/5x6", showOf(task, check))
	check.Cases[2].Refused, check.Findings = true, nil
	assert.Empty(t, showOf(task, check), "a case that is wrong on purpose may run no kernel")
	task.Device = "none"
	check.Findings = []verdict.Found{{Case: "5x6"}}
	assert.Empty(t, showOf(task, check), "it has no kernels")
}
