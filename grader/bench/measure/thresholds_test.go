package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/timing"
)

// TestThresholdsStandForTheSameTimes: what took half the time of float32 to get full marks takes as long beside halves.
func TestThresholdsStandForTheSameTimes(t *testing.T) {
	one := func(name string, ms float64) race.Entry {
		return race.Entry{Name: name, Stats: timing.Describe([]float64{ms * 1e6})}
	}
	row := race.Row{Entries: []race.Entry{one("ours", 2), one("halves", 4), one("float32", 16)}}
	text := thresholds(rubric.Curve{None: 0.1, Full: 1}, rubric.Curve{None: 0.5, Full: 6.5}, row, "float32")
	assert.Contains(t, text, "beside halves            none = 0.1    full = 1      (40.00 ms, 4.00 ms); the solution has 2.00")
	assert.Contains(t, text, "beside float32           none = 0.5    full = 6.5    (32.00 ms, 2.46 ms); the solution has 8.00")
	assert.Contains(t, text, "the same times (× 0.2500)            none = 0.12   full = 1.6    (33.33 ms, 2.50 ms); the solution has 2.00")
	row.Entries[2].Stats = timing.Stats{}
	assert.Empty(t, thresholds(rubric.Curve{}, rubric.Curve{}, row, "float32"), "without a time there is none")
	assert.Empty(t, thresholds(rubric.Curve{}, rubric.Curve{}, race.Row{}, "float32"))
}

// TestCommandsRunAtOnce: as many as were asked for, and one that fails holds up no other.
func TestCommandsRunAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all [][]string
	for _, name := range []string{"a", "b", "c", "d"} {
		all = append(all, []string{"-c", "sleep 0.3; touch " + dir + "/" + name + "; exit 1"})
	}
	took := Commands(t.Context(), "sh", all, 4)
	assert.Less(t, took, 1100*time.Millisecond)
	for _, name := range []string{"a", "b", "c", "d"} {
		assert.FileExists(t, dir+"/"+name)
	}
}
