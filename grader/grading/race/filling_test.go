package race

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/wire"
	"flashlab/grader/tasks/shared"
)

// bare is a run whose launches were hidden only if the cache was filled often enough.
func bare(t wire.Turn, enough int, device, queued time.Duration) timing.Run {
	r := timing.Run{Took: wire.Took{Device: device.Nanoseconds(), Host: device.Nanoseconds(), Queued: queued.Nanoseconds()}, Wall: device}
	if t.Fills < enough {
		r.Began = true
		r.Device *= 3
	}
	return r
}

func TestFillingIsRaisedUntilLaunchesAreHidden(t *testing.T) {
	const short, queued = 100 * time.Microsecond, 60 * time.Microsecond
	for name, c := range map[string]struct {
		enough         int
		device, queued time.Duration
		slip           wire.Slip
		runs, fills    int
		exposed        bool
	}{
		"once is enough":            {0, short, queued, "", 1, 0, false},
		"eight times":               {8, short, queued, "", 4, 8, false},
		"never":                     {99, short, queued, "", 6, wire.MostFills, true},
		"queueing matters not":      {99, 10 * time.Millisecond, queued, "", 1, 0, false},
		"nothing hides it":          {99, 10 * time.Millisecond, 9 * time.Millisecond, "", 1, 0, true},
		"the device is to be idle":  {99, short, queued, wire.HostClock, 1, 0, true},
		"what fills stays unwashed": {2, short, queued, wire.DirtyCache, 2, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			var f Filling
			seeds := map[uint64]bool{}
			run := func(turn wire.Turn) timing.Run {
				seeds[turn.Seed] = true
				return bare(turn, c.enough, c.device, c.queued)
			}
			r := f.Hidden(run, wire.Turn{Seed: 5, Slip: c.slip})
			assert.Equal(t, c.exposed, r.Exposed())
			assert.Len(t, seeds, c.runs, "each run has its own inputs")
			assert.Equal(t, c.fills, f.times)
		})
	}
}

// slow is a racer whose launches take a host of some slowness to queue.
type slow struct {
	*fake
	enough int
	seeds  map[uint64]int
}

func (s *slow) Run(t wire.Turn) timing.Run {
	s.seeds[t.Seed]++
	r := bare(t, s.enough, s.takes(0), 300*time.Microsecond)
	s.fake.Run(t)
	return r
}

func slowRace(t *testing.T, enough, stale int) ([]Entry, *slow) {
	t.Helper()
	op, c, err := workload.Case(judge.Ops{shared.Flash}, true)
	require.NoError(t, err)
	plain := func() *fake {
		return &fake{op: op, c: c, takes: func(int) time.Duration { return time.Millisecond }}
	}
	s := &slow{fake: plain(), enough: enough, seeds: map[uint64]int{}}
	s.spoil = func(f *fake, _ int, piece []float32) {
		if f.runs == stale {
			clear(piece)
		}
	}
	hold := func(r timing.Run) string { return timing.Hold(r, timing.Work{}, device.Limits{}) }
	return Race(op, c, []Racer{plain(), s}, Options{Runs: 6, Warm: 2, Pieces: 4, Seed: 1}, hold), s
}

func TestARoundWithBareLaunchesIsNotCounted(t *testing.T) {
	entries, s := slowRace(t, 4, 0)
	for _, e := range entries {
		assert.Len(t, e.Times, 6)
		assert.Equal(t, 1e6, e.Stats.Most, "all that count were hidden")
		assert.Zero(t, e.Bare)
	}
	assert.Equal(t, 4, entries[1].Fills)
	assert.Zero(t, entries[0].Fills, "the other need not fill so often")
	assert.Equal(t, 2+6+2, s.runs, "two rounds more")
	assert.Len(t, s.seeds, s.runs, "with inputs of their own")
	row := Row{Entries: entries}
	assert.NotContains(t, row.Text(SelfTest{}), "not hidden")
}

func TestWhatCannotBeHiddenIsSaid(t *testing.T) {
	entries, s := slowRace(t, 99, 0)
	assert.Equal(t, 6, entries[1].Bare)
	assert.Len(t, entries[1].Times, 6)
	assert.Equal(t, 2+6+5, s.runs)
	row := Row{Entries: entries}
	assert.Contains(t, row.Text(SelfTest{}), "launches were not hidden in 6 of 6 runs")
}

func TestRepeatedRunsAreChecked(t *testing.T) {
	entries, _ := slowRace(t, 4, 1)
	assert.Contains(t, entries[1].Wrong, "one of the timed outputs is wrong")
}

// workload is what these tests race.
var workload = Workload{Name: "attention", ID: "flash-1-64-causal", Task: "4", Op: "flash", Shape: []int{1, 32, 64, 64, 128}, Causal: true}
