package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/verdict"
)

func TestReasonsAreOfLostTraffic(t *testing.T) {
	c := verdict.Check{Title: "Softmax", Parts: []verdict.Part{{Name: "safety", Max: 0.1}, {Name: "traffic", Max: 0.25, Score: 0.1}},
		Cases: []verdict.Outcome{{Name: "24x1000", Passed: true, Traffic: true, Moved: 9000, Least: 1000, Lines: []verdict.Line{
			{File: "kernels.cu", Line: 62, Op: "read", Requests: 10, Bytes: 1280, Sectors: 320},
			{File: "kernels.cu", Line: 70, Op: "read", Shared: true, Requests: 10, Bytes: 1280, Passes: 320}}}}}
	reasons := Reasons(c, c.Parts[1])
	assert.Len(t, reasons, 1)
	assert.Contains(t, reasons[0], "kernels.cu:62: a warp's request moves 32 sectors, and 4 would do")
	assert.Empty(t, Reasons(c, c.Parts[0]))
	text := Printer{}.checks(verdict.Verdict{Checks: []verdict.Check{c}})
	assert.Contains(t, text, reasons[0])
	assert.Contains(t, text, "kernels.cu:70: a warp's request takes 32 passes")
	assert.Contains(t, says(c), reasons[0])
	c.Parts[1].Score = 0.25
	assert.Empty(t, Reasons(c, c.Parts[1]), "nothing is lost")
}
