package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/trace"
)

func TestWhatASubmissionSaysIsSafeToShow(t *testing.T) {
	v := Verdict{Refused: "\x1b", Warnings: []string{"\x07"}, Checks: []Check{{
		Cases:    []Outcome{{Reason: "\r", Details: []string{"\x1b"}, Printed: "\x1b", Prints: []trace.Print{{Text: "\x1b"}}}},
		Findings: []Found{{Finding: trace.Finding{Source: "\x1b", Message: "\x1b", Notes: []string{"\x1b"}}}},
	}}}
	v.MakePlain()
	assert.Equal(t, "⟨U+001B⟩", v.Refused)
	assert.Equal(t, []string{"⟨U+0007⟩"}, v.Warnings)
	assert.Equal(t, "⟨U+000D⟩", v.Checks[0].Cases[0].Reason)
	assert.Equal(t, []string{"⟨U+001B⟩"}, v.Checks[0].Cases[0].Details)
	assert.Equal(t, "⟨U+001B⟩", v.Checks[0].Cases[0].Prints[0].Text)
	assert.Equal(t, []string{"⟨U+001B⟩"}, v.Checks[0].Findings[0].Notes)
}
