package score

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/trace"
	"flashlab/grader/grading/verdict"
)

func TestWhatASubmissionSaysIsSafeToShow(t *testing.T) {
	assert.Equal(t, "?[31mred\n\ttwo? é 漢 ?evil", Plain("\x1b[31mred\n\ttwo\u009b é 漢 \u202eevil"))
	v := verdict.Verdict{Refused: "\x1b", Warnings: []string{"\x07"}, Checks: []verdict.Check{{
		Cases:    []verdict.Outcome{{Reason: "\r", Details: []string{"\x1b"}, Printed: "\x1b", Prints: []trace.Print{{Text: "\x1b"}}}},
		Findings: []verdict.Found{{Finding: trace.Finding{Source: "\x1b", Message: "\x1b", Notes: []string{"\x1b"}}}},
	}}}
	plain(&v)
	assert.Equal(t, "?", v.Refused)
	assert.Equal(t, []string{"?"}, v.Warnings)
	assert.Equal(t, "?", v.Checks[0].Cases[0].Reason)
	assert.Equal(t, []string{"?"}, v.Checks[0].Cases[0].Details)
	assert.Equal(t, "?", v.Checks[0].Cases[0].Prints[0].Text)
	assert.Equal(t, []string{"?"}, v.Checks[0].Findings[0].Notes)
}

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
