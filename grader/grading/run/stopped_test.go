package run

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/trace"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// TestAStoppedKernelsCaseIsWrong: whatever its output is, for nothing of the kernel was counted.
func TestAStoppedKernelsCaseIsWrong(t *testing.T) {
	for fatal, passes := range map[bool]bool{true: false, false: true} {
		v := verdict.Outcome{Passed: true}
		trap := trace.Finding{Kind: "trap", Kernel: "softmax", Fatal: fatal}
		stopped(&v, supervise.Observed{Findings: []trace.Finding{{Kind: "race"}, trap}})
		assert.Equal(t, passes, v.Passed)
		assert.Equal(t, fatal, strings.HasPrefix(v.Reason, "kernel softmax was stopped, and the call returned no error"))
	}
	v := verdict.Outcome{Reason: "wrong"}
	stopped(&v, supervise.Observed{Findings: []trace.Finding{{Fatal: true}}})
	assert.Equal(t, "wrong", v.Reason, "what is wrong already has its reason")
}
