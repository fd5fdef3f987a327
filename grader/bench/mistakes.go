package bench

import (
	"context"
	"fmt"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/peers"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/wire"
)

// Mistake is one way to time wrongly, and what it makes of a workload.
type Mistake struct {
	Slip     string // "nosync", …, as docs/measuring.md names them
	Workload string
	Right    timing.Stats // nanoseconds of the code, as it should be measured
	Wrong    timing.Stats // the same code, measured with the mistake
	// Speed-ups over the unfused baseline that one would publish.
	RightUp, WrongUp float64
	Note             string
	Not              string // why nothing was measured
}

// Names of the mistakes that are no slip of a single run.
const (
	ColdStart = "cold"
	OneRun    = "once"
	Precision = "precision"
)

// MistakeWorkloads are a short and a longer one of task 4's.
func MistakeWorkloads(t *rubric.Task) ([]race.Workload, error) {
	beside := []string{"sdpa", "half"}
	return workloads(t, []rubric.Workload{{Op: "flash", Shape: []int{4, 32, 128, 128, 128}, Beside: beside},
		{Op: "flash", Shape: []int{4, 32, 2048, 2048, 128}, Beside: beside}})
}

// Mistakes makes them all. open starts a fresh worker, for a cold start; torch may be nil.
func Mistakes(ctx context.Context, open func() (*supervise.Runner, func(), error), w race.Workload, o race.Options, torch *peers.Torch) ([]Mistake, error) {
	cold, not, err := coldStarts(ctx, open, w, o)
	if err != nil {
		return nil, err
	}
	if not != "" {
		var all []Mistake
		for _, slip := range []string{string(wire.NoSync), string(wire.HostClock), string(wire.HotCache), string(wire.DirtyCache), ColdStart, OneRun, Precision} {
			all = append(all, Mistake{Slip: slip, Workload: w.Name, Not: not})
		}
		return all, nil
	}
	r, closed, err := open()
	if err != nil {
		return nil, err
	}
	defer closed()
	all, err := slips(ctx, r, w, o, cold)
	if err != nil {
		return nil, err
	}
	p := Mistake{Slip: Precision, Workload: w.Name, Not: "there is no PyTorch here"}
	if torch != nil {
		if p, err = unequal(ctx, r, w, o, torch); err != nil {
			return nil, err
		}
	}
	return append(all, p), nil
}

// coldStarts are first calls, by the host's clock.
func coldStarts(ctx context.Context, open func() (*supervise.Runner, func(), error), w race.Workload, o race.Options) (times []float64, not string, err error) {
	for i := range 3 {
		r, closed, err := open()
		if err != nil {
			return nil, "", err
		}
		talk, not, err := begin(ctx, r, w, o.Ops)
		if err == nil && not == "" {
			took, _ := talk.Run(wire.Turn{Who: wire.Ours, Seed: o.TurnSeed("cold", i)})
			if took.Error != nil {
				not = took.Error.Error()
			}
			times = append(times, float64(took.Host))
			err = talk.End()
		}
		closed()
		if err != nil || not != "" {
			return nil, not, err
		}
	}
	return times, "", nil
}

// begin begins a workload where it can be timed.
func begin(ctx context.Context, r *supervise.Runner, w race.Workload, all judge.Ops) (talk *supervise.Talk, not string, err error) {
	_, c, err := w.Case(all, r.Backend.Kind() != device.CUDA)
	if err != nil {
		return nil, "", err
	}
	talk, failed, err := r.Time(ctx, c)
	switch {
	case err != nil:
		return nil, "", err
	case failed != nil:
		return nil, failed.Error(), nil
	case !talk.Ready.Clock:
		return nil, "needs a GPU", talk.End()
	case talk.Ready.NoBaseline != "":
		return nil, talk.Ready.NoBaseline, talk.End()
	}
	return talk, "", nil
}

// slips runs the code as it should be, with each slip, and the baseline, in turns.
func slips(ctx context.Context, r *supervise.Runner, w race.Workload, o race.Options, cold []float64) ([]Mistake, error) {
	talk, not, err := begin(ctx, r, w, o.Ops)
	if err != nil {
		return nil, err
	}
	if not != "" {
		return []Mistake{{Workload: w.Name, Not: not}}, nil
	}
	kinds := []wire.Slip{"", wire.NoSync, wire.HostClock, wire.HotCache, wire.DirtyCache}
	times := map[wire.Slip][]float64{}
	var base []float64
	failed := ""
	fillings := make([]race.Filling, len(kinds)+1) // the baseline's is the last
	run := func(t wire.Turn, f *race.Filling) timing.Run {
		r := f.Hidden((&race.InWorker{Talk: talk, Who: t.Who}).Run, t)
		if r.Error != nil && failed == "" {
			failed = r.Error.Error()
		}
		return r
	}
	for i := range o.Warm + o.Runs {
		for j, slip := range kinds {
			r := run(wire.Turn{Who: wire.Ours, Seed: o.TurnSeed(fmt.Sprint("mistake ", j), i), Slip: slip}, &fillings[j])
			ns := r.Time()
			if slip.ByHost() {
				ns = float64(r.Slipped)
			}
			if i >= o.Warm {
				times[slip] = append(times[slip], ns)
			}
		}
		r := run(wire.Turn{Who: wire.Baseline, Seed: o.TurnSeed("baseline", i)}, &fillings[len(kinds)])
		if i >= o.Warm {
			base = append(base, r.Time())
		}
	}
	if failed != "" {
		return []Mistake{{Workload: w.Name, Not: failed}}, talk.End()
	}
	right, theirs := timing.Describe(times[""]), timing.Describe(base)
	of := func(slip string, wrong []float64) Mistake {
		m := Mistake{Slip: slip, Workload: w.Name, Right: right, Wrong: timing.Describe(wrong)}
		m.RightUp, m.WrongUp = theirs.Median/m.Right.Median, theirs.Median/m.Wrong.Median
		return m
	}
	var all []Mistake
	for _, slip := range kinds[1:] {
		all = append(all, of(string(slip), times[slip]))
	}
	all = append(all, of(ColdStart, cold))
	pairs := timing.Describe(timing.Ratios(base, times[""]))
	once := of(OneRun, times[""])
	once.WrongUp = pairs.Most
	once.Note = fmt.Sprintf("a single pair of runs says anything from × %.2f to × %.2f", pairs.Least, pairs.Most)
	return append(all, once), talk.End()
}

// unequal compares PyTorch's attention in half precision with the same in float32.
func unequal(ctx context.Context, r *supervise.Runner, w race.Workload, o race.Options, torch *peers.Torch) (Mistake, error) {
	m := Mistake{Slip: Precision, Workload: w.Name}
	row, err := race.Measure(ctx, r, w, o, torch)
	if err != nil {
		return m, err
	}
	half, whole := row.Entry(peers.Kinds["half"].Name), row.Entry(peers.Kinds["sdpa"].Name)
	if half == nil || whole == nil || half.Stats.N == 0 || whole.Stats.N == 0 {
		m.Not = "PyTorch has no attention in half precision here"
		return m, nil
	}
	m.Right, m.Wrong = whole.Stats, half.Stats
	m.RightUp, m.WrongUp = 1, whole.Stats.Median/half.Stats.Median
	m.Note = fmt.Sprintf("its errors are %.0f times as large (%.1e beside %.1e)", half.Usual/whole.Usual, half.Usual, whole.Usual)
	return m, nil
}
