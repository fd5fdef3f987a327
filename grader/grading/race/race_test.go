package race

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/wire"
	"flashlab/grader/tasks/shared"
)

// fake is a racer with its own clock that computes what the oracle wants, unless it is
// told not to.
type fake struct {
	op      judge.Op
	c       problem.Problem
	takes   func(run int) time.Duration
	spoil   func(f *fake, from int, piece []float32)
	outside string
	apart   func(run int) time.Duration // the host's clock from the device's
	bad     uint32
	runs    int
	seed    uint64 // of the inputs that it looks at
}

func (f *fake) Name() string  { return "fake" }
func (f *fake) Checked() bool { return true }

func (f *fake) Run(t wire.Turn) timing.Run {
	f.runs++
	f.seed = t.Seed
	d := f.takes(f.runs)
	host := d
	if f.apart != nil {
		host += f.apart(f.runs)
	}
	return timing.Run{Took: wire.Took{Device: d.Nanoseconds(), Host: host.Nanoseconds(), Bad: f.bad, Outside: f.outside}, Wall: host}
}

func (f *fake) Pieces(from []int, size int) (all []float32, _ *wire.Error) {
	c := f.c
	c.Seed = f.seed
	for _, at := range from {
		piece := make([]float32, size)
		for i, v := range f.op.Timed.Truth(c, at).Want {
			piece[i] = float32(v)
		}
		if f.spoil != nil {
			f.spoil(f, at, piece)
		}
		all = append(all, piece...)
	}
	return all, nil
}

func race(t *testing.T, change func(f *fake)) []Entry {
	t.Helper()
	op, c, err := workload.Case(judge.Ops{shared.Flash}, true)
	require.NoError(t, err)
	slow := &fake{op: op, c: c, takes: func(int) time.Duration { return 4 * time.Millisecond }}
	fast := &fake{op: op, c: c, takes: func(int) time.Duration { return time.Millisecond }}
	if change != nil {
		change(fast)
	}
	hold := func(r timing.Run) string { return timing.Hold(r, timing.Work{FLOPS: 1e9}, device.Limits{Tensor: 1e13}) }
	return Race(op, c, []Racer{fast, slow}, Options{Runs: 6, Warm: 2, Pieces: 8, Seed: 1}, hold)
}

func TestRace(t *testing.T) {
	entries := race(t, nil)
	row := Row{Entries: entries}
	assert.Equal(t, 6, entries[0].Stats.N, "those that warm up are left out")
	assert.Equal(t, 1e6, entries[0].Stats.Median)
	assert.InDelta(t, 4, row.Ratio(entries[1]).Median, 1e-9)
	assert.True(t, row.Right())
	assert.Less(t, entries[0].Error, 1.0)
	assert.LessOrEqual(t, entries[0].Usual, entries[0].Worst)
	assert.Positive(t, entries[0].Usual)
}

// TestWhatTheDevicesClockAlwaysLeavesOutIsHeld: less than another program may delay one run, but in every run.
func TestWhatTheDevicesClockAlwaysLeavesOutIsHeld(t *testing.T) {
	hidden := race(t, func(f *fake) { f.apart = func(int) time.Duration { return 10 * time.Millisecond } })
	assert.Contains(t, hidden[0].Held, "the clocks do not agree in any of 6 runs")
	assert.Empty(t, hidden[1].Held)
	busy := race(t, func(f *fake) {
		f.apart = func(run int) time.Duration { return time.Duration(min(run%3, 1)) * 19 * time.Millisecond }
	})
	assert.Empty(t, busy[0].Held, "a host that others use as well")
}

func TestErrorOfMostRuns(t *testing.T) {
	inRun := func(far int) func(f *fake) {
		return func(f *fake) {
			f.spoil = func(f *fake, _ int, piece []float32) {
				if f.runs >= far {
					piece[0] += 1e-6 // within the bound
				}
			}
		}
	}
	once, often := race(t, inRun(8))[0], race(t, inRun(3))[0]
	assert.Less(t, once.Usual, once.Worst/2, "one of eight runs")
	assert.Greater(t, often.Usual, once.Usual*2, "six of eight runs")
	var e Entry
	e.erred(math.NaN(), 1)
	e.erred(math.Inf(1), 1)
	assert.Empty(t, e.errors)
	assert.Zero(t, e.Worst)
}

func TestRaceCatches(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *fake)
		wrong  string
		held   string
	}{
		"outputs of the run before": {func(f *fake) {
			last := uint64(0)
			run := f.takes
			f.takes = func(n int) time.Duration { f.seed, last = last, f.seed; return run(n) }
		}, "one of the timed outputs is wrong", ""},
		"only the first runs are right": {func(f *fake) {
			f.spoil = func(f *fake, _ int, piece []float32) {
				if f.runs > 5 {
					clear(piece)
				}
			}
		}, "one of the timed outputs is wrong", ""},
		"the last row is left out": {func(f *fake) {
			last := 0
			f.spoil = func(_ *fake, from int, piece []float32) {
				if last = max(last, from); from == last && from > 0 {
					piece[3] = 0
				}
			}
		}, "one of the timed outputs is wrong", ""},
		"half precision": {func(f *fake) {
			f.spoil = func(_ *fake, _ int, piece []float32) {
				for i := range piece {
					piece[i] *= 1 + 1.0/2048
				}
			}
		}, "one of the timed outputs is wrong", ""},
		"not written":  {func(f *fake) { f.bad = 3 }, "left 3 elements that are NaN", ""},
		"work outside": {func(f *fake) { f.outside = "launch flash" }, "", "launch flash"},
		"too fast":     {func(f *fake) { f.takes = func(int) time.Duration { return 10 * time.Microsecond } }, "", "impossible time"},
	} {
		t.Run(name, func(t *testing.T) {
			entries := race(t, c.change)
			row := Row{Entries: entries}
			assert.False(t, row.Right())
			if c.wrong != "" {
				assert.Contains(t, entries[0].Wrong, c.wrong)
				assert.Zero(t, row.Ratio(entries[1]).N, "no ratio for what is wrong")
			}
			if c.held != "" {
				assert.Contains(t, entries[0].Held, c.held)
			}
		})
	}
}

func TestSelfTestJudges(t *testing.T) {
	limits := device.Limits{FLOPS: 67e12, Bandwidth: 3.35e12}
	rates := func(around float64, spread float64) timing.Stats {
		return timing.Describe([]float64{around * (1 - spread), around, around * (1 + spread)})
	}
	for want, s := range map[string]SelfTest{
		"":                                   {Copy: rates(3e12, 0.01), Adds: rates(60e12, 0.01)},
		"rate of a copy spreads by":          {Copy: rates(3e12, 0.2), Adds: rates(60e12, 0.01)},
		"multiply-adds reach 30 %":           {Copy: rates(3e12, 0.01), Adds: rates(20e12, 0.01)},
		"a copy reach 149 % of the hardware": {Copy: rates(5e12, 0.01), Adds: rates(60e12, 0.01)},
	} {
		s.Limits = limits
		s.judge()
		if want == "" {
			assert.Empty(t, s.Noisy)
		} else {
			assert.Contains(t, s.Noisy, want)
		}
	}
}

func TestAGuestsFailureIsNobodysFault(t *testing.T) {
	op, c, err := workload.Case(judge.Ops{shared.Flash}, true)
	require.NoError(t, err)
	ours := &fake{op: op, c: c, takes: func(int) time.Duration { return time.Millisecond }}
	entries := Race(op, c, []Racer{ours, absent{"reference", "no room"}}, Options{Runs: 3, Pieces: 4, Seed: 1}, func(timing.Run) string { return "" })
	row := Row{Entries: entries}
	assert.True(t, row.Right())
	assert.Equal(t, 3, entries[0].Stats.N)
	assert.Equal(t, "no room", entries[1].Not)
	assert.Contains(t, row.Text(SelfTest{}), "reference          not measured: no room")
}
