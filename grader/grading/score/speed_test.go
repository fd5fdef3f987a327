package score

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/marks"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/verdict"
)

var timedTask = &rubric.Task{
	Shares: rubric.Shares{Correctness: 0.8, Speed: 0.2},
	Speed:  rubric.Curve{None: 0.25, Full: 4},
	Checks: []rubric.Check{{ID: "full", Points: 2}},
}

func speed(s Speed) *verdict.Part {
	c := Score(timedTask, timedTask.Checks[0], Measured{Runs: []Run{one(true, 100)}, Speed: s})
	return c.Part("speed")
}

func ratio(r float64) Speed {
	return Speed{Workload: "batch 4", Baseline: "cuBLAS", Ours: time.Millisecond, Theirs: time.Duration(r * 1e6), Ratio: timing.Describe([]float64{r, r, r})}
}

func TestSpeedIsLogarithmicBetweenTwoRatios(t *testing.T) {
	for r, want := range map[float64]float64{0.1: 0, 0.25: 0, 0.5: 0.25, 1: 0.5, 2: 0.75, 4: 1, 40: 1} {
		p := speed(ratio(r))
		assert.Empty(t, p.NotMeasured)
		assert.InDelta(t, 0.4*want, p.Score, 1e-9, "at %v", r)
	}
	assert.Contains(t, speed(ratio(2)).Note, "2.00 × the speed of cuBLAS (2.00 to 2.00; 1ms beside 2ms; full from 4 on): batch 4")
	assert.Zero(t, marks.Rising(timedTask.Speed, 0))
}

func TestSpeedThatIsNotMeasuredCostsNothing(t *testing.T) {
	p := speed(Speed{Not: "needs a GPU", NeedsGPU: true})
	assert.Equal(t, "not measured: needs a GPU", p.NotMeasured)
	assert.True(t, p.NeedsGPU)
	assert.Equal(t, "not measured: too noisy", speed(Speed{Not: "too noisy"}).NotMeasured)
	assert.Contains(t, speed(Speed{}).NotMeasured, "no pair")
}

func TestAHeldTimeIsNeverScored(t *testing.T) {
	s := ratio(40)
	s.Held = "impossible time: 1ms, and the hardware needs 20ms"
	c := Score(timedTask, timedTask.Checks[0], Measured{Runs: []Run{one(true, 100)}, Speed: s})
	v := verdict.Verdict{Checks: []verdict.Check{c}, Again: "make grade TASK=4"}
	Finish(&v)
	p := v.Checks[0].Part("speed")
	assert.Zero(t, p.Score)
	assert.Equal(t, verdict.Awaiting, p.NotMeasured)
	assert.Equal(t, []verdict.Held{{Check: "full", Reason: "its time is not believed", Evidence: s.Held, Reproduce: "make grade TASK=4"}}, v.Held)
	assert.InDelta(t, 1.6, v.Checks[0].Part("correctness").Score, 1e-9, "the rest of the check is as it was")
	assert.False(t, v.Full())
}

func TestWrongOutputsOfTimedRunsEarnNothing(t *testing.T) {
	s := ratio(40)
	s.Wrong = "one of the timed outputs is wrong"
	p := speed(s)
	assert.Zero(t, p.Score)
	assert.Empty(t, p.NotMeasured)
	assert.Equal(t, s.Wrong, p.Note)
}
