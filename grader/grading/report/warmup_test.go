package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/verdict"
)

func TestTheWarmUpIsDoneOrNot(t *testing.T) {
	v := verdict.Verdict{Task: "0", Dir: "task0_warmup", Checks: []verdict.Check{
		{ID: "map", Title: "1 Map", Parts: []verdict.Part{{Name: "correctness", Score: 0.5, Max: 0.5}}},
		{ID: "pad", Title: "7 Pad", Parts: []verdict.Part{{Name: verdict.BankPart, Max: 0.5, Note: "16.50 passes"}},
			Cases: []verdict.Outcome{{Passed: true, Traffic: true, Lines: []verdict.Line{{File: "kernels.cu", Line: 9, Op: "read", Shared: true, Requests: 10, Bytes: 1280, Passes: 320}}}}},
	}}
	var b bytes.Buffer
	p := Printer{W: &b}
	p.Verdict(v)
	p.Next([]verdict.Verdict{v})
	text := b.String()
	for _, says := range []string{"✓ 1 Map  ██████████  done\n", "✗ 7 Pad  ░░░░░░░░░░  not yet\n", "banks     16.50 passes\n", "kernels.cu:9: a warp's request takes 32 passes",
		"Task 0: 1 of 2 puzzles done\n"} {
		assert.Contains(t, text, says)
	}
	assert.NotContains(t, text, "points")
	assert.False(t, v.Full())
	v.Checks = v.Checks[:1]
	assert.True(t, v.Full())
	got, most := v.Points()
	assert.Zero(t, got+most, "in no total")
	assert.Equal(t, "task 1, task1_reference/README.md", next([]verdict.Verdict{v}))
}

// A fresh student begins with puzzle 1, although 7 and 8 are given and wrong, which comes first elsewhere.
func TestTheWarmUpIsDoneInTurn(t *testing.T) {
	v := verdict.Verdict{Task: "0", Dir: "task0_warmup", Checks: []verdict.Check{
		{ID: "map", Title: "1 Map", Parts: []verdict.Part{{Name: "correctness", Max: 0.5}}, Cases: []verdict.Outcome{{Class: notImplemented}}},
		{ID: "race", Title: "8 Find the race", Parts: []verdict.Part{{Name: "correctness", Max: 0.5}}, Cases: []verdict.Outcome{{Name: "17", Reason: "no", Again: "make grade"}}},
	}}
	assert.Equal(t, "1 Map is still the stub: task0_warmup/README.md says where to start (a hint: make hint TASK=0 HINT=1)", next([]verdict.Verdict{v}))
	v.Checks[0].Parts[0].Score = 0.5
	assert.Equal(t, "race/17 alone: make grade (a hint: make hint TASK=0 HINT=8)", next([]verdict.Verdict{v}))
	v.Refused = "no"
	assert.NotContains(t, next([]verdict.Verdict{v}), "hint")
}
