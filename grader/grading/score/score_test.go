package score

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/trace"
	"flashlab/grader/grading/marks"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/grading/wire"
)

var task = &rubric.Task{
	Shares:  rubric.Shares{Correctness: 0.6, Safety: 0.15, Traffic: 0.25},
	Traffic: rubric.Curve{Full: 1.6, None: 4},
	Checks:  []rubric.Check{{ID: "softmax", Points: 2}},
}

func one(passed bool, moved uint64, found ...trace.Finding) Run {
	seen := supervise.Observed{Measured: true, Findings: found, Counts: []trace.Counts{{Kernel: "k", Launches: 1}}}
	return Run{supervise.Result{Seen: seen}, verdict.Outcome{Name: "a", Weight: 1, Passed: passed, Traffic: true, Moved: moved, Least: 100}}
}

func scores(runs ...Run) verdict.Check {
	return Score(task, task.Checks[0], Measured{Runs: runs, Sim: runs})
}

func TestFullMarks(t *testing.T) {
	c := scores(one(true, 100), one(true, 150))
	v := verdict.Verdict{Checks: []verdict.Check{c}}
	got, most := v.Points()
	assert.InDelta(t, 2, got, 1e-9)
	assert.InDelta(t, 2, most, 1e-9)
	assert.True(t, v.Full())
}

func TestPartialCreditFollowsTheWeights(t *testing.T) {
	heavy := one(true, 100)
	heavy.Case.Weight = 3
	c := scores(heavy, one(false, 100))
	assert.InDelta(t, 1.2*3/4, c.Part("correctness").Score, 1e-9)
	assert.Equal(t, 0.37, c.Part("traffic").Score, "a wrong case earns no traffic points; three quarters of 0.5 are cut to hundredths")
	assert.Equal(t, "1 of 2 cases right", c.Part("correctness").Note)
}

// hiding is a check with a hidden case beside the others.
func hiding(c rubric.Check, weights ...float64) *rubric.Task {
	for _, w := range weights {
		c.Cases = append(c.Cases, rubric.Case{Weight: w})
	}
	return &rubric.Task{Shares: task.Shares, Traffic: task.Traffic, Checks: []rubric.Check{c}}
}

func TestHiddenCasesHavePointsOfTheirOwn(t *testing.T) {
	all := hiding(rubric.Check{ID: "softmax", Points: 2, Cases: []rubric.Case{{Hidden: true, Weight: 1}}}, 1, 2)
	right, wrong := one(true, 100), one(true, 100)
	wrong.Case.Hidden, wrong.Case.Passed, wrong.Case.Traffic = true, false, false
	runs := []Run{right, wrong, right}
	c := Score(all, all.Checks[0], Measured{Runs: runs, Sim: runs})
	assert.Equal(t, verdict.Part{Name: "correctness", Score: 0.9, Max: 0.9, Note: "2 of 2 cases right"}, rounded9(*c.Part("correctness")))
	assert.Equal(t, verdict.Part{Name: verdict.Hidden, Max: 0.3, Note: "0 of 1 hidden case right"}, rounded9(*c.Part(verdict.Hidden)))
	v := verdict.Verdict{Checks: []verdict.Check{c}}
	_, most := v.Points()
	assert.InDelta(t, 2, most, 1e-9)
	assert.False(t, v.Full())
}

func TestAReleaseSaysWhatIsHidden(t *testing.T) {
	all := hiding(rubric.Check{ID: "softmax", Points: 2, Withheld: 1, WithheldWeight: 1}, 1, 2)
	c := Score(all, all.Checks[0], Measured{Runs: []Run{one(true, 100)}, Sim: []Run{one(true, 100)}})
	assert.Equal(t, verdict.Part{Name: verdict.Hidden, Max: 0.3, NotMeasured: "1 hidden case runs when you have handed in", Withheld: true}, rounded9(*c.Part(verdict.Hidden)))
	v := verdict.Verdict{Checks: []verdict.Check{c}}
	got, most := v.Points()
	assert.InDelta(t, 1.7, got, 1e-9)
	assert.InDelta(t, 1.7, most, 1e-9, "what is handed in later takes away none of these")
	assert.True(t, v.Full())
	assert.Equal(t, "1 hidden case runs when you have handed in", Refuse(verdict.Verdict{}, all, "no").Checks[0].Part(verdict.Hidden).NotMeasured)
}

// rounded9 spares a comparison the last bits.
func rounded9(p verdict.Part) verdict.Part {
	p.Score, p.Max = math.Round(p.Score*1e9)/1e9, math.Round(p.Max*1e9)/1e9
	return p
}

func TestFindingsCostSafety(t *testing.T) {
	race := trace.Finding{Check: "racecheck", Kind: "race", File: "k.cu", Line: 3, Count: 2}
	c := scores(one(true, 100, race), one(true, 100, race))
	assert.Zero(t, c.Part("safety").Score)
	assert.Equal(t, "1 finding", c.Part("safety").Note, "one place, however often")
	assert.Equal(t, 4, c.Findings[0].Count)
}

// What only hidden cases add to a finding stays out of it.
func TestAFindingOfAShownCaseIsThatCases(t *testing.T) {
	race := trace.Finding{Check: "racecheck", Kind: "race", File: "k.cu", Line: 3, Count: 2, Message: "partial[1]"}
	secret := race
	secret.Message, secret.Count = "partial[331]", 5
	hidden, shown := one(true, 100, secret), one(true, 100, race)
	hidden.Case.Hidden = true
	for _, runs := range [][]Run{{hidden, shown}, {shown, hidden}} {
		c := Score(task, task.Checks[0], Measured{Runs: runs, Sim: runs})
		assert.Equal(t, []verdict.Found{{Finding: race, Case: "a"}}, c.Findings)
	}
	c := Score(task, task.Checks[0], Measured{Runs: []Run{hidden, shown}, Sim: []Run{hidden}})
	assert.True(t, c.Findings[0].Hidden())
}

func TestAFindingCostsOnce(t *testing.T) {
	race := trace.Finding{Check: "racecheck", Kind: "race", File: "k.cu", Line: 3, Count: 2}
	runs := []Run{one(true, 100, race)}
	c := Score(task, task.Checks[0], Measured{Runs: runs, Sim: runs, Known: []verdict.Found{{Finding: race}}})
	assert.InDelta(t, 0.3, c.Part("safety").Score, 1e-9)
	assert.Equal(t, "no findings beyond the 1 of an earlier check", c.Part("safety").Note)
	assert.Empty(t, c.Findings)
}

func TestSafetyIsNotGivenForNothing(t *testing.T) {
	assert.Zero(t, scores(one(false, 100)).Part("safety").Score)
	idle := one(true, 100)
	idle.Result.Seen.Counts = nil
	assert.Equal(t, "no kernel ran", scores(idle).Part("safety").Note)
	died := one(false, 0)
	died.Result.Error = &wire.Error{Class: wire.Fault, Text: "kernel k stopped: the simulator's process has ended"}
	c := scores(died, one(true, 100))
	assert.Zero(t, c.Part("safety").Score)
	assert.Contains(t, c.Findings[0].Message, "process has ended")
}

func TestTrafficCurve(t *testing.T) {
	curve := rubric.Curve{Full: 1.6, None: 4}
	assert.Equal(t, 1.0, marks.Along(curve, 1))
	assert.Equal(t, 1.0, marks.Along(curve, 1.6))
	assert.Equal(t, 0.0, marks.Along(curve, 4))
	assert.Equal(t, 0.0, marks.Along(curve, 9))
	assert.InDelta(t, 0.5, marks.Along(curve, 2.5298), 1e-3) // √(1.6 × 4)
	assert.Equal(t, 0.24, scores(one(true, 253)).Part("traffic").Score)
	assert.Equal(t, 0.49, scores(one(true, 161)).Part("traffic").Score, "nothing looks full that is not")
}

func TestWhatIsNotMeasuredIsInNoDenominator(t *testing.T) {
	c := Score(task, task.Checks[0], Measured{Runs: []Run{one(true, 0)}, NoSim: "no C++ compiler"})
	v := verdict.Verdict{Checks: []verdict.Check{c}}
	got, most := v.Points()
	assert.InDelta(t, 1.2, got, 1e-9)
	assert.InDelta(t, 1.2, most, 1e-9)
	assert.Equal(t, "not measured: no C++ compiler", c.Part("safety").NotMeasured)
	assert.True(t, v.Full())
}

func TestARefusedSubmissionGetsNothingOfEverything(t *testing.T) {
	v := Refuse(verdict.Verdict{Task: "2"}, task, "kernels.cu:1: asm")
	got, most := v.Points()
	assert.Zero(t, got)
	assert.InDelta(t, 2, most, 1e-9)
	assert.False(t, v.Full())
}

func TestRefusingIsNotSafetyByItself(t *testing.T) {
	refusal := one(true, 100)
	refusal.Case.Refused = true
	assert.Zero(t, scores(refusal, one(false, 100)).Part("safety").Score)
	assert.InDelta(t, 0.3, scores(refusal, one(true, 100)).Part("safety").Score, 1e-9)
}

func TestARefusalCountsBesideARightCase(t *testing.T) {
	refusal := one(true, 100)
	refusal.Case.Refused = true
	p := scores(refusal, refusal, one(false, 100), one(false, 100)).Part("correctness")
	assert.Zero(t, p.Score)
	assert.Equal(t, "0 of 4 cases right; refusals count only beside ordinary cases that are right", p.Note)
	p = scores(refusal, refusal, one(true, 100), one(false, 100)).Part("correctness")
	assert.InDelta(t, 0.6, p.Score, 1e-9, "one ordinary right case lets one refusal count")
	p = scores(refusal, refusal, one(true, 100), one(true, 100)).Part("correctness")
	assert.InDelta(t, 1.2, p.Score, 1e-9)
}

func TestSafetyNeedsMostCases(t *testing.T) {
	p := scores(one(true, 100), one(false, 100)).Part("safety")
	assert.Zero(t, p.Score)
	assert.Equal(t, "no findings, but only 1 of 2 cases right, and most must be", p.Note)
	assert.InDelta(t, 0.3, scores(one(true, 100), one(true, 100), one(false, 100)).Part("safety").Score, 1e-9)
	large := one(false, 100)
	large.Result.NotRun = TooMuch
	assert.InDelta(t, 0.3, scores(one(true, 100), large).Part("safety").Score, 1e-9, "what only a GPU runs is not missing here")
}
