package record

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/verdict"
)

// measured is a record of task 4: correctness of some cases, and either safety (the simulator) or
// speed (a GPU).
func measured(correct float64, cases int, gpu bool) *Record {
	c := verdict.Check{ID: "flash", Cases: make([]verdict.Outcome, cases), Parts: []verdict.Part{
		{Name: "correctness", Score: correct, Max: 2},
		{Name: "safety", Score: 0.4, Max: 0.4},
		{Name: "speed", Max: 0.8, NotMeasured: "needs a GPU", NeedsGPU: true},
	}}
	device := "the simulator"
	if gpu {
		device = "H100"
		c.Parts[1] = verdict.Part{Name: "safety", Max: 0.4, NotMeasured: "no simulator"}
		c.Parts[2] = verdict.Part{Name: "speed", Score: 0.6, Max: 0.8}
	}
	return &Record{Student: Student{ID: "s"}, Attempt: 1, Tasks: []Task{{Name: "4", Files: "f", Device: device, Key: device, Result: verdict.Verdict{Checks: []verdict.Check{c}}}}}
}

func TestPartsComeFromWhereTheyWereMeasured(t *testing.T) {
	for _, order := range [][2]*Record{{measured(2, 5, false), measured(2, 7, true)}, {measured(2, 7, true), measured(2, 5, false)}} {
		m, notes := Merge(order[0], order[1])
		assert.Empty(t, notes)
		got, most := m.Task("4").Result.Points()
		assert.InDelta(t, 3.0, got, 1e-9)
		assert.InDelta(t, 3.2, most, 1e-9)
		assert.Len(t, m.Task("4").Result.Checks[0].Cases, 7)
		assert.Contains(t, m.Task("4").Device, "H100")
		assert.Contains(t, m.Task("4").Device, "the simulator")
	}
}

func TestRunsThatDisagree(t *testing.T) {
	sim, gpu := measured(2, 5, false), measured(1, 7, true)
	m, notes := Merge(sim, gpu)
	assert.InDelta(t, 1, m.Task("4").Result.Checks[0].Parts[0].Score, 1e-9, "the GPU ran more cases")
	assert.Equal(t, []string{"s, attempt 1: task 4: flash correctness has 1 points in one run and 2 in the other; 1 count"}, notes)

	gpu.Tasks[0].Result.Held = []verdict.Held{{Check: "flash", Reason: "too fast"}}
	for i := range gpu.Tasks[0].Result.Checks[0].Parts {
		gpu.Tasks[0].Result.Checks[0].Parts[i].NotMeasured = verdict.Awaiting
	}
	m, _ = Merge(sim, gpu)
	assert.NotNil(t, m.Task("4").Held("flash"))
	got, _ := m.Task("4").Result.Points()
	assert.Zero(t, got, "what one run holds is not let through by the other")

	gpu = measured(2, 7, true)
	gpu.Tasks[0].Files = "others"
	_, notes = Merge(sim, gpu)
	assert.Contains(t, notes[0], "different files")

	gpu.Tasks[0].Failed = "the GPU was lost"
	m, notes = Merge(gpu, sim)
	assert.Empty(t, notes)
	assert.Equal(t, "the simulator", m.Task("4").Device)

	broken := &Record{Student: Student{ID: "s"}, Attempt: 1, Trouble: "disk error"}
	m, notes = Merge(broken, sim)
	assert.Empty(t, m.Trouble)
	assert.Len(t, notes, 1)
}

// The GPU's run has more cases, and no bytes: points for traffic are made from those of the simulator.
func TestMergedCasesKeepTheirBytes(t *testing.T) {
	sim, gpu := measured(2, 5, false), measured(2, 7, true)
	name := sim.Tasks[0].Result.Checks[0].Cases[0].Name
	for _, r := range []*Record{sim, gpu} {
		r.Tasks[0].Result.Checks[0].Cases[0].Passed = r == gpu
	}
	sim.Tasks[0].Result.Checks[0].Cases[0].Moved, sim.Tasks[0].Result.Checks[0].Cases[0].Least = 300, 100
	m, _ := Merge(sim, gpu)
	first := m.Task("4").Result.Checks[0].Cases[0]
	assert.Equal(t, name, first.Name)
	assert.EqualValues(t, 300, first.Moved)
	assert.True(t, first.Disagreed, "wrong where the bytes were counted")
}
