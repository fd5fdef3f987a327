package bench

import (
	"cmp"
	"context"
	"fmt"

	"flashlab/device"
	"flashlab/grader/host"
	"flashlab/grader/ops"
	"flashlab/grader/timing"
	"flashlab/grader/wire"
)

// Row is one workload, measured.
type Row struct {
	Workload
	Sizes   string // of the case that ran: smaller ones in the simulator
	Work    timing.Work
	Device  device.Info
	Limits  device.Limits
	Library string
	Entries []Entry // the code in question first
	Left    string  // why nothing ran at all
	Alone   timing.Stats
}

// How the racers of the worker itself are called.
const (
	OursName     = "ours"
	BaselineName = "unfused, cuBLAS"
)

// Measure times one workload: the worker's code against its baseline, and against
// peers, which may be none. The error is the grader's own.
func Measure(ctx context.Context, r *host.Runner, w Workload, o Options, peers ...Peer) (Row, error) {
	small := r.Backend.Kind() != device.CUDA
	row := Row{Workload: w}
	op, c, err := w.Case(small)
	if err != nil {
		return row, err
	}
	row.Sizes, row.Work = fmt.Sprint(c.Sizes), WorkOf(op, c)
	talk, failed, err := r.Time(ctx, c)
	if err != nil {
		return row, err
	}
	if failed != nil {
		row.Left = failed.Error()
		return row, nil
	}
	row.Device, row.Limits, row.Library = talk.Ready.Device, talk.Ready.Limits, talk.Ready.Library
	racers := []Racer{&inWorker{talk, wire.Ours, cmp.Or(o.Name, OursName)}}
	if talk.Ready.NoBaseline == "" {
		racers = append(racers, &inWorker{talk, wire.Baseline, baselineName(op)})
		row.Alone = alone(talk, o)
	}
	for _, p := range peers {
		racers = append(racers, p.racers(ctx, w, c)...)
		defer p.end()
	}
	row.Entries = Race(op, c, racers, o, func(run timing.Run) string { return timing.Hold(run, row.Work, row.Limits) })
	for i := range row.Entries {
		if e := &row.Entries[i]; e.Wrong == "" && !talk.Ready.Clock {
			e.Not = "needs a GPU"
		}
	}
	if why := talk.Ready.NoBaseline; why != "" {
		row.Entries = append(row.Entries, Entry{Name: baselineName(op), Not: why})
	}
	if err := talk.End(); err != nil {
		return row, err
	}
	if err := ctx.Err(); err != nil {
		return row, err
	}
	row.slowed()
	return row, nil
}

func baselineName(op ops.Op) string {
	switch op.Name {
	case "softmax":
		return "copy"
	case "gemm_nn", "gemm_nt":
		return "cuBLAS"
	case "model":
		return "the model on the course's plain kernels"
	}
	return BaselineName
}

// alone times the baseline before anything of the submission has been made: code that
// slows the machine down while others run gains nothing by it.
func alone(talk *host.Talk, o Options) timing.Stats {
	var times []float64
	baseline := &inWorker{talk, wire.Baseline, BaselineName}
	var f filling
	for i := range o.Warm + 3 {
		r := f.hidden(baseline.Run, wire.Turn{Seed: o.Seed + uint64(i)})
		if r.Error == nil && i >= o.Warm && r.Device > 0 {
			times = append(times, r.Time())
		}
	}
	return timing.Describe(times)
}

// slowed holds the result back where the baseline was slower beside the code than
// before it.
func (r *Row) slowed() {
	const much = 1.15
	for i := range r.Entries {
		if e := r.Entries[i]; i > 0 && e.Stats.N > 0 && r.Alone.N > 0 && r.isBaseline(e.Name) && e.Stats.Median > much*r.Alone.Most {
			r.Entries[0].hold(fmt.Sprintf("the baseline took %s beside this code, and %s before it", microseconds(e.Stats.Median), microseconds(r.Alone.Median)))
		}
	}
}

func (r *Row) isBaseline(name string) bool {
	op, err := ops.Find(r.Op)
	return err == nil && name == baselineName(op)
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
// runs that stood side by side.
func (r *Row) Ratio(e Entry) timing.Stats {
	if len(r.Entries) == 0 || r.Entries[0].Wrong != "" || e.Wrong != "" {
		return timing.Stats{}
	}
	return timing.Describe(timing.Ratios(e.Times, r.Entries[0].Times))
}

// inWorker is a racer that the worker runs itself.
type inWorker struct {
	talk *host.Talk
	who  wire.Who
	name string
}

func (w *inWorker) Name() string { return w.name }

func (w *inWorker) Checked() bool {
	return w.who == wire.Ours || (w.who == wire.Baseline && w.name != "copy")
}

func (w *inWorker) Run(t wire.Turn) timing.Run {
	t.Who = w.who
	took, wall := w.talk.Run(t)
	return timing.Run{Took: took, Wall: wall}
}

func (w *inWorker) Pieces(from []int, size int) ([]float32, *wire.Error) {
	return w.talk.Pieces(from, size)
}

// Peer is another program that can do workloads.
type Peer interface {
	racers(ctx context.Context, w Workload, c wire.Case) []Racer
	end() // of the workload
}
