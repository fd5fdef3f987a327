package report

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
	"flashlab/grader/grading/verdict"
)

func TestAnnotationsOfFindingsAndRefusals(t *testing.T) {
	race := verdict.Found{Case: "a", Again: "make grade TASK=2", Finding: trace.Finding{Kind: "race", File: "kernels.cu", Line: 46, Column: 15, Message: "race on 100% of x\n::error::y"}}
	v := verdict.Verdict{Task: "2", Dir: "task2_unfused", Title: "Unfused", Checks: []verdict.Check{{ID: "softmax", Title: "Softmax, batched", Findings: []verdict.Found{race}, Parts: []verdict.Part{{Name: "safety", Max: 1}}}}}
	refused := verdict.Verdict{Task: "1", Dir: "task1_reference", Refused: "task1_reference/attention.go:17:2: undefined: x\nand more"}
	assert.Equal(t, []string{
		"::error file=task2_unfused/kernels.cu,line=46,col=15,title=Softmax%2C batched%3A race::kernels.cu:46:15: race on 100%25 of x%0A::error::y%0A    again, with what this thread prints: make grade TASK=2",
		"::error file=task1_reference/attention.go,line=17,col=2,title=not run::undefined: x",
	}, Annotations([]verdict.Verdict{v, refused}))
	summary := JobSummary([]verdict.Verdict{v, refused})
	assert.Contains(t, summary, "| 2 Unfused | 0 | 1 |")
	assert.Contains(t, summary, "kernels.cu:46:15: race")
}

func TestGradescopesTestsHaveStatusNumberAndTags(t *testing.T) {
	v := verdict.Verdict{Task: "2", Checks: []verdict.Check{{ID: "a", Title: "A", Parts: []verdict.Part{{Name: "correctness", Score: 1, Max: 1}}}, {ID: "b", Title: "B", Parts: []verdict.Part{{Name: "safety", Max: 1}}}}}
	data, err := json.Marshal(ForGradescope([]verdict.Verdict{v}))
	require.NoError(t, err)
	assert.Contains(t, string(data), `"number":"2.1","status":"passed"`)
	assert.Contains(t, string(data), `"number":"2.2","status":"failed"`)
	assert.Contains(t, string(data), `"tags":["task 2","b","safety"]`)
	assert.NoError(t, CheckGradescope(data))
	assert.ErrorContains(t, CheckGradescope([]byte(`{"score": 1, "tests": [{"status": "maybe"}]}`)), `status "maybe"`)
}
