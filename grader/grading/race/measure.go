package race

import (
	"cmp"
	"context"
	"fmt"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/wire"
)

// Row is one workload, measured.
type Row struct {
	Workload
	Sizes   string // of the case that ran: smaller ones in the simulator
	Work    timing.Work
	Tensor  float64 `json:",omitempty"` // operations of tensor cores in halves for each of Work's; 0 for plain units
	Kernels string  `json:",omitempty"` // the hash of the code that ran, without its comments; "" where nobody knows
	Device  device.Info
	Limits  device.Limits
	Library string
	Entries []Entry // the code in question first
	Left    string  // why nothing ran at all
	Alone   timing.Stats
	// OwnKernel says that the baseline runs the submission's code as well.
	OwnKernel bool `json:",omitempty"`
}

// The names of the worker's own racers.
const (
	OursName     = "ours"
	BaselineName = "unfused, cuBLAS"
)

// Measure times one workload: the worker's code against its baseline, and against
// peers, which may be none. The error is the grader's own.
func Measure(ctx context.Context, r *supervise.Runner, w Workload, o Options, peers ...Peer) (Row, error) {
	small := o.Small || r.Backend.Kind() != device.CUDA
	row := Row{Workload: w}
	op, c, err := w.Case(o.Ops, small)
	if err != nil {
		return row, err
	}
	row.Sizes, row.Work, row.Tensor = fmt.Sprint(c.Sizes), WorkOf(op, c), op.Timed.Tensor
	row.OwnKernel = op.Timed.OwnKernel != ""
	talk, failed, err := r.Time(ctx, c)
	if err != nil {
		return row, err
	}
	if failed != nil {
		row.Left = failed.Error()
		return row, nil
	}
	row.Device, row.Limits, row.Library = talk.Ready.Device, talk.Ready.Limits, talk.Ready.Library
	racers := []Racer{&InWorker{Talk: talk, Who: wire.Ours, name: cmp.Or(o.Name, OursName)}}
	if talk.Ready.NoBaseline == "" {
		racers = append(racers, &InWorker{talk, wire.Baseline, beside(op), op.Timed.BaselineElsewhere})
		row.Alone = alone(talk, o)
		if o.Wide && op.Timed.Wide != "" {
			racers = append(racers, besides{&InWorker{talk, wire.Wide, op.Timed.Wide, op.Timed.BaselineElsewhere}})
		}
	}
	for _, p := range peers {
		racers = append(racers, p.Racers(ctx, w, c)...)
		defer p.End()
	}
	row.Entries = Race(op, c, racers, o, func(run timing.Run) string { return timing.Hold(run, row.Work, row.Limits) })
	for i := range row.Entries {
		if e := &row.Entries[i]; e.Wrong == "" && !talk.Ready.Clock {
			e.Not = "needs a GPU"
		}
	}
	if why := talk.Ready.NoBaseline; why != "" {
		row.Entries = append(row.Entries, Entry{Name: beside(op), Not: why})
	}
	if err := talk.End(); err != nil {
		return row, err
	}
	if err := ctx.Err(); err != nil {
		return row, err
	}
	row.slowed(beside(op))
	return row, nil
}

// beside is what the baseline of an operation is called.
func beside(op judge.Op) string { return cmp.Or(op.Timed.Baseline, BaselineName) }

// alone times the baseline before anything of the submission has been made: code that
// slows the machine down while others run gains nothing by it.
func alone(talk *supervise.Talk, o Options) timing.Stats {
	var times []float64
	baseline := &InWorker{Talk: talk, Who: wire.Baseline}
	var f Filling
	for i := range o.Warm + 3 {
		r := f.Hidden(baseline.Run, wire.Turn{Seed: o.TurnSeed("alone", i)})
		if r.Error == nil && i >= o.Warm && r.Device > 0 {
			times = append(times, r.Time())
		}
	}
	return timing.Describe(times)
}

// slowed holds the result back where the baseline was slower beside the code than
// before it.
func (r *Row) slowed(baseline string) {
	const much = 1.15
	for i := range r.Entries {
		if e := r.Entries[i]; i > 0 && e.Stats.N > 0 && r.Alone.N > 0 && e.Name == baseline && e.Stats.Median > much*r.Alone.Most {
			r.Entries[0].hold(fmt.Sprintf("the baseline took %s beside this code, and %s before it", Microseconds(e.Stats.Median), Microseconds(r.Alone.Median)))
		}
	}
}

// Entry finds an entry by its name.
func (r *Row) Entry(name string) *Entry {
	for i := range r.Entries {
		if r.Entries[i].Name == name {
			return &r.Entries[i]
		}
	}
	return nil
}

// Ratio is how many times as fast as another entry the first one is, by the pairs of
// neighbouring runs.
func (r *Row) Ratio(e Entry) timing.Stats {
	if len(r.Entries) == 0 || r.Entries[0].Wrong != "" || e.Wrong != "" {
		return timing.Stats{}
	}
	return timing.Describe(timing.Ratios(e.Times, r.Entries[0].Times))
}

// InWorker is a racer that the worker runs itself.
type InWorker struct {
	Talk *supervise.Talk
	Who  wire.Who
	name string
	// elsewhere: it writes none of the outputs
	elsewhere bool
}

func (w *InWorker) Name() string { return w.name }

func (w *InWorker) Checked() bool {
	return w.Who == wire.Ours || ((w.Who == wire.Baseline || w.Who == wire.Wide) && !w.elsewhere)
}

func (w *InWorker) Run(t wire.Turn) timing.Run {
	t.Who = w.Who
	took, wall := w.Talk.Run(t)
	return timing.Run{Took: took, Wall: wall}
}

func (w *InWorker) Pieces(from []int, size int) ([]float32, *wire.Error) {
	return w.Talk.Pieces(0, from, size)
}

// WritesAll is true of the submission's code.
func (w *InWorker) WritesAll() bool { return w.Who == wire.Ours }

// Span fetches part of any output that the last run wrote.
func (w *InWorker) Span(s judge.Span) ([]float32, *wire.Error) {
	return w.Talk.Pieces(s.Output, []int{s.From}, s.Size)
}

// Peer is another program that can do workloads.
type Peer interface {
	Racers(ctx context.Context, w Workload, c problem.Problem) []Racer
	End() // of the workload
}
