package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/verdict"
)

// TestAnOptionalCheckIsInNoTotal: it is done or not, asks for nothing as long as it is a stub, and comes last in what to do.
func TestAnOptionalCheckIsInNoTotal(t *testing.T) {
	scored := verdict.Check{ID: "read", Title: "Read", Parts: []verdict.Part{{Name: "correctness", Score: 1.5, Max: 1.5}}, Cases: []verdict.Outcome{{Passed: true}}}
	extra := verdict.Check{ID: "extra", Title: "More", Optional: true, Cases: []verdict.Outcome{{Name: "17", Class: notImplemented}},
		Parts: []verdict.Part{{Name: "correctness", Max: 0.8}, {Name: "hidden", Max: 0.2, NotMeasured: "withheld", Withheld: true}}}
	v := verdict.Verdict{Task: "b5", Dir: "bonus/b5_fourbit", Checks: []verdict.Check{extra, scored}}
	said := func() string {
		var b bytes.Buffer
		p := Printer{W: &b}
		p.Verdict(v)
		p.Next([]verdict.Verdict{v})
		return b.String()
	}
	assert.Contains(t, said(), "– More  ░░░░░░░░░░  –            still the stub\n")
	assert.Contains(t, said(), "Task b5: 1.5 of 1.5 points\n", "and none of its points are hidden")
	assert.True(t, v.Full())
	assert.Contains(t, said(), "Next: the questions")
	g := ForGradescope([]verdict.Verdict{v})
	assert.Len(t, g.Tests, 1)
	assert.Empty(t, g.ExtraData.NotMeasured)
	assert.InDelta(t, 1.5, g.ExtraData.Bonus.MaxScore, 1e-9)

	v.Checks[0].Cases[0] = verdict.Outcome{Name: "17", Reason: "every number is 0", Again: "make grade CASE=extra/17"}
	assert.Contains(t, said(), "✗ More  ░░░░░░░░░░  not yet\n     correctness\n")
	assert.Contains(t, Section(v), "| More | not yet | correctness:  |\n")
	assert.True(t, v.Full())
	v.Checks[1].Parts[0].Score, v.Checks[1].Cases[0] = 1, verdict.Outcome{Name: "2", Reason: "no", Again: "make grade CASE=read/2"}
	assert.Contains(t, said(), "Next: read/2 alone: make grade CASE=read/2\n", "what has points comes first")

	v.Checks = v.Checks[:1]
	assert.Contains(t, said(), "Task b5: 0 of 1 optional checks done; they have no points\nNext: extra/17 alone: make grade CASE=extra/17\n")
	assert.False(t, v.Full())
	v.Checks[0].Cases[0] = verdict.Outcome{Name: "17", Class: notImplemented}
	assert.Contains(t, said(), "Next: More is still the stub: bonus/b5_fourbit/README.md")
	v.Checks[0].Parts[0].Score, v.Checks[0].Cases[0] = 0.8, verdict.Outcome{Passed: true}
	assert.Contains(t, said(), "✓ More  ██████████  done\n")
	assert.True(t, v.Full())
}
