package marks

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// task has a check of 10 points with every part but a hidden one.
func task() *rubric.Task {
	return &rubric.Task{Points: 10, Shares: rubric.Shares{Correctness: 0.4, Safety: 0.2, Traffic: 0.2, Speed: 0.2}, Traffic: rubric.Curve{Full: 1, None: 4}, Speed: rubric.Curve{None: 0.25, Full: 1},
		Checks: []rubric.Check{{ID: "a", Points: 10, Cases: []rubric.Case{{Name: "x", Weight: 1, Traffic: true}, {Name: "y", Weight: 1}}}}}
}

// measured is a verdict on it: one of two cases right, twice the least bytes, half the baseline's speed.
func measured() verdict.Verdict {
	return verdict.Verdict{Checks: []verdict.Check{{ID: "a",
		Cases: []verdict.Outcome{{Name: "x", Weight: 1, Passed: true, Traffic: true, Moved: 200, Least: 100}, {Name: "y", Weight: 1}},
		Parts: []verdict.Part{{Name: "correctness", Score: 2, Max: 4}, {Name: "safety", Score: 2, Max: 2}, {Name: "traffic", Score: 1, Max: 2, Note: "moved"}, {Name: "speed", Score: 1, Max: 2, Ratio: 0.5}}}}}
}

func scores(v verdict.Verdict) (all []float64) {
	for _, p := range v.Checks[0].Parts {
		all = append(all, p.Score)
	}
	return all
}

func TestTheSameRubricGivesTheSamePoints(t *testing.T) {
	v, stale := Again(task(), measured())
	assert.Empty(t, stale)
	assert.Equal(t, []float64{2, 2, 1, 1}, scores(v))
	assert.Equal(t, "moved", v.Checks[0].Parts[2].Note)
}

func TestSharesCurvesAndWeightsAreTodays(t *testing.T) {
	now := task()
	now.Shares = rubric.Shares{Correctness: 0.2, Safety: 0.4, Traffic: 0.2, Speed: 0.2}
	now.Traffic.Full, now.Speed.Full = 2, 0.5
	now.Checks[0].Cases[0].Weight = 3
	v, stale := Again(now, measured())
	assert.Empty(t, stale)
	assert.Equal(t, []float64{1.5, 4, 2, 2}, scores(v))
}

// On a GPU a case may be right that is wrong in the simulator: then its bytes there earn nothing.
func TestBytesOfAWrongCaseEarnNothing(t *testing.T) {
	m := measured()
	m.Checks[0].Cases[0].Disagreed = true
	v, _ := Again(task(), m)
	assert.Equal(t, []float64{2, 2, 0, 1}, scores(v))
}

func TestWhatIsNewIsNamedAndOpen(t *testing.T) {
	now := task()
	now.Checks[0].Cases = append(now.Checks[0].Cases, rubric.Case{Name: "big", GPU: true, Weight: 1}, rubric.Case{Name: "h", Hidden: true, Weight: 2})
	now.Checks = append(now.Checks, rubric.Check{ID: "b", Points: 1})
	m := measured()
	m.Checks[0].Parts = m.Checks[0].Parts[:3]
	v, stale := Again(now, m)
	assert.Equal(t, []string{"a hidden case of a is new", `speed of "a" is new`, `the check "b" is new`}, stale)
	assert.NotEmpty(t, v.Checks[0].Part("speed").NotMeasured)
	assert.Zero(t, v.Checks[0].Part(verdict.Hidden).Score)
}

func TestWhatWasRefusedStaysAtNothing(t *testing.T) {
	m := measured()
	m.Refused, m.Checks[0].Cases = "it does not compile", nil
	v, stale := Again(task(), m)
	assert.Empty(t, stale)
	assert.Equal(t, []float64{0, 0, 0, 0}, scores(v))
}

func TestBanksWithoutAConflictOrNothing(t *testing.T) {
	marked := func(cases ...verdict.Outcome) verdict.Part {
		p := verdict.Part{Name: verdict.BankPart, Max: 0.25}
		Banks(&p, cases)
		return p
	}
	counted := func(requests, passes uint64) verdict.Outcome {
		return verdict.Outcome{Name: "7", Passed: true, Traffic: true, Counted: &verdict.Counted{Requests: requests, Passes: passes}}
	}
	wrong := counted(10, 10)
	wrong.Passed = false
	assert.InDelta(t, 0.25, marked(counted(10, 10), verdict.Outcome{}).Score, 1e-9)
	for says, cases := range map[string][]verdict.Outcome{
		"16.50 passes of shared memory's banks a request, 1 would do (7)": {counted(10, 10), counted(10, 165)},
		"shared memory is not used (7)":                                   {counted(0, 0)},
		"7 comes first: it is wrong":                                      {wrong},
	} {
		p := marked(cases...)
		assert.Zero(t, p.Score, says)
		assert.Equal(t, says, p.Note)
	}
}
