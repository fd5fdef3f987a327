package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/trace"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// measured is a verdict of one check that is worth 1 point.
func measured(task registry.Name, points float64, cases ...verdict.Outcome) verdict.Verdict {
	one, _ := registry.All.Find(string(task))
	return verdict.Verdict{Task: task, Dir: one.Dir, Checks: []verdict.Check{{ID: "softmax", Title: "Softmax", Cases: cases,
		Parts: []verdict.Part{{Name: "correctness", Score: points, Max: 1}}}}}
}

func TestTheLastLineSaysWhatToDo(t *testing.T) {
	stub := measured("2", 0, verdict.Outcome{Class: notImplemented, Reason: "attn: not implemented"}, verdict.Outcome{Hidden: true})
	wrong := measured("2", 0.5, verdict.Outcome{Name: "1x1", Passed: true}, verdict.Outcome{Name: "17x113", Reason: "no", Again: "make grade TASK=2 CASE=softmax/17x113 SEED=7"})
	race := measured("2", 0.5, wrong.Checks[0].Cases...)
	race.Checks[0].Findings = []verdict.Found{{Finding: trace.Finding{File: "kernels.cu", Line: 43}}}
	placed := measured("2", 0.5, wrong.Checks[0].Cases...)
	placed.Checks[0].Findings = []verdict.Found{{Finding: trace.Finding{Message: "c: never written"}}, race.Checks[0].Findings[0]}
	slow := measured("2", 1)
	slow.Checks[0].Parts = append(slow.Checks[0].Parts, verdict.Part{Name: "traffic", Max: 0.25}, verdict.Part{Name: "speed", Max: 0.2, NotMeasured: "not measured: needs a GPU", NeedsGPU: true})
	mixed := measured("2", 1)
	mixed.Checks = append(slices.Clone(slow.Checks), wrong.Checks...)
	waiting := measured("2", 0, verdict.Outcome{Class: notRun, Reason: "not run: A model: softmax" + verdict.ComesFirst + ": none of its cases is right yet"})
	waiting.Checks = append(waiting.Checks, stub.Checks...)
	waiting.Checks[0].Title = "Attention"
	broken := measured("2", 0, verdict.Outcome{Name: "1x1", Class: doesNotCompile, Reason: "kernels.cu:12:7: error: no such thing\n  more", Again: "repeat"})
	secret := measured("2", 0.5, verdict.Outcome{Name: "secret", Hidden: true, Reason: "secret reason"})
	refused := measured("2", 0)
	refused.Refused = "attention.go:3: imports os"
	held := measured("2", 0)
	held.Held = []verdict.Held{{Check: "softmax"}}
	held.Checks[0].Parts[0].NotMeasured = verdict.Awaiting
	part := measured("2", 1)
	part.Partly = "softmax"
	assert.Equal(t, next([]verdict.Verdict{stub}), next([]verdict.Verdict{waiting}), "a check that waits for another has nothing to mend")
	assert.Equal(t, next([]verdict.Verdict{race}), next([]verdict.Verdict{placed}), "a finding that has a line is named before one that has none")
	for want, verdicts := range map[string][]verdict.Verdict{
		"Softmax is still the stub: task2_unfused/README.md says where to start":                         {measured("1", 1), stub, wrong},
		"fix kernels.cu:12, which does not compile; then make grade TASK=2":                              {broken},
		"softmax/17x113 alone: make grade TASK=2 CASE=softmax/17x113 SEED=7":                             {wrong},
		"Softmax, what the simulator found in kernels.cu:43; then make grade TASK=2 CASE=softmax":        {race},
		"traffic of Softmax: task2_unfused/README.md has hints":                                          {slow},
		"Softmax is wrong in a hidden case: try odd sizes and large values in tests of your own":         {secret},
		"fix the errors above, then make grade TASK=2":                                                   {refused},
		"an instructor will review the held checks; you need do nothing":                                 {held},
		"make grade TASK=2, which grades all of it":                                                      {part},
		"the questions of task2_unfused/README.md, in Results.md; then task 3, task3_tiled_go/README.md": {measured("2", 1)},
		"the handouts' questions, in Results.md; then make pack":                                         {measured("7", 1)},
	} {
		var b bytes.Buffer
		Printer{W: &b}.Next(verdicts)
		assert.Equal(t, "Next: "+want+"\n", b.String())
	}
	assert.Equal(t, next([]verdict.Verdict{wrong}), next([]verdict.Verdict{mixed}), "what is wrong comes before what is slow")
	assert.Equal(t, "the handouts' questions, in Results.md; then make pack", next([]verdict.Verdict{measured("1", 1), measured("2", 1)}))
}

func TestAHeldCheckIsNeitherRightNorWrong(t *testing.T) {
	v := measured("2", 0)
	v.Checks[0].Parts[0].NotMeasured = verdict.Awaiting
	assert.Equal(t, " ? Softmax  ░░░░░░░░░░  –   1 awaiting a person", Printer{}.checks(v))
}

// A bar is full for full points alone.
func TestBars(t *testing.T) {
	for got, filled := range map[float64]int{0: 0, 0.01: 1, 0.5: 5, 0.99: 9, 1: 10} {
		assert.Equal(t, filled, strings.Count(tally{got: got, most: 1}.bar(), "█"), got)
	}
}
