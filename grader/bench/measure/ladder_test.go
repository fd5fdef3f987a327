package measure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/bench"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/timing"
	"flashlab/internal/figure"
)

// tookOnly is a rung of one racer.
func tookOnly(name, version string, ns float64) rung {
	s := timing.Describe([]float64{0.99 * ns, ns, 1.02 * ns})
	return rung{Step: rubric.Step{Version: version, Idea: name, Bound: "memory"}, title: name,
		Row: race.Row{Work: timing.Work{FLOPS: 2e9, Bytes: 4e6}, Entries: []race.Entry{{Name: "ours", Stats: s}}}}
}

func TestALadderInWordsAndAsAPicture(t *testing.T) {
	l := bench.Ladder{Ladder: rubric.Ladder{Name: "flash"}, Workload: race.Workload{Name: "attention"}}
	rungs := []rung{tookOnly("1 rows", "1_rows", 8e5), tookOnly("2 tiles", "2_tiles", 2e5), tookOnly("3 cores", "", 1e5)}
	rungs[2].Entries = append(rungs[2].Entries, race.Entry{Name: "SDPA", Stats: timing.Describe([]float64{2e5})},
		race.Entry{Name: "bad", Wrong: "one is wrong", Stats: timing.Describe([]float64{1})})
	test := race.SelfTest{Copy: timing.Stats{Median: 4e12}, Adds: timing.Stats{Median: 5e13}}

	text := describe(rungs, test)
	assert.Contains(t, text, "3 cores (the solution)")
	assert.Contains(t, text, "× 2.00 the rung below, × 8.0 the first")
	assert.Contains(t, text, "held by: memory")
	assert.NotContains(t, describe(rungs[:1], test), "the rung below")
	assert.Contains(t, limits(rungs[2].Row, test), "1.0 µs, all arithmetic on plain units 40.0 µs")

	want := map[string]float64{"1 rows": 1, "2 tiles": 4, "3 cores": 8, "SDPA": 4, "bound: memory, at a copy's rate": 800, "bound: arithmetic on plain units": 20}
	f := picture(l, rungs, test)
	got := map[string]float64{}
	for _, b := range f.Bars {
		got[b.Label] = b.Value
		assert.LessOrEqual(t, b.Low, b.Value)
		assert.GreaterOrEqual(t, b.High, b.Value)
	}
	assert.InDeltaMapValues(t, want, got, 1e-9)

	rungs[0].Entries[0].Wrong = "an output is wrong" // nothing to be compared with
	assert.Equal(t, []figure.Bar(nil), picture(l, rungs, test).Bars)
}

// TestARungMayBeInexactOnPurpose: a rounding error that its ladder knows of is told, and its time counts. Anything
// else that is wrong with it stays wrong.
func TestARungMayBeInexactOnPurpose(t *testing.T) {
	off := race.WrongOutput + "element 3 is 1, want 2"
	for _, c := range []struct {
		known, worst float64
		wrong        string
		forgiven     bool
	}{
		{1e-3, 4e-4, off, true},
		{1e-3, 2e-3, off, false},
		{0, 4e-4, off, false},
		{1e-3, 4e-4, "run 1 left 2 elements that are NaN or infinite: not written, or wrong", false},
		{1e-3, math.NaN(), off, false},
	} {
		r := race.Row{Entries: []race.Entry{{Wrong: c.wrong, Worst: c.worst}}}
		why := forgive(r, c.known)
		assert.Equal(t, c.forgiven, r.Entries[0].Wrong == "", "%+v", c)
		assert.Equal(t, c.forgiven, why == c.wrong, "%+v", c)
	}
}
