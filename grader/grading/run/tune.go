package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
	"flashlab/tensor"
)

// Tuning says what is run.
type Tuning struct {
	Dim   int // head dimension
	Sizes []int
}

// DefaultTuning tries tiles of the usual sizes.
func DefaultTuning() Tuning { return Tuning{Dim: 128, Sizes: []int{16, 32, 64, 128}} }

// timed is how often a choice is timed on a GPU.
const timed = 20

// Tune tries tiles for the task's fused attention: each must first be right. On
// a GPU they are ranked by time; in the simulator by the bytes they move, then
// by the passes of shared memory that they need.
func Tune(ctx context.Context, o Options, t Tuning) ([]verdict.Tuned, error) {
	if t.Dim < 1 || t.Dim > 128 {
		return nil, fmt.Errorf("a head dimension of %d: want 1 to 128", t.Dim)
	}
	op, err := o.Ops.Find("flash")
	if err != nil {
		return nil, err
	}
	uses := slices.ContainsFunc(o.Task.Checks, func(c rubric.Check) bool { return c.Op == op.Name })
	if !uses {
		return nil, fmt.Errorf("task %s has nothing to tune: task 4 has tiles, and task 5 parts", o.Task.Name)
	}
	op.Name = "tune"
	r, closed, err := Open(ctx, o, time.Minute) // a compiler's time is in it
	if err != nil {
		return nil, err
	}
	defer closed()
	return o.tiles(ctx, r, op, t)
}

// tiles tries all pairs of sizes.
func (o Options) tiles(ctx context.Context, r *supervise.Runner, op judge.Op, t Tuning) ([]verdict.Tuned, error) {
	var tried []verdict.Tuned
	for _, queries := range t.Sizes {
		for _, keys := range t.Sizes {
			one := verdict.Tuned{Tiles: problem.Tiles{Queries: queries, Keys: keys}}
			if err := o.tryOne(ctx, r, op, t.Dim, &one); err != nil {
				return nil, err
			}
			tried = append(tried, one)
			if o.Progress != nil {
				o.Progress(len(tried), len(t.Sizes)*len(t.Sizes), one.Tiles.String())
			}
		}
	}
	slices.SortStableFunc(tried, func(a, b verdict.Tuned) int {
		return cmp.Or(cmp.Compare(min(len(a.Wrong), 1), min(len(b.Wrong), 1)), cmp.Compare(a.Time, b.Time),
			cmp.Compare(a.Ratio, b.Ratio), cmp.Compare(a.Passes, b.Passes))
	})
	return tried, nil
}

// tryOne checks that tiles give the right results, then measures.
func (o Options) tryOne(ctx context.Context, r *supervise.Runner, op judge.Op, dim int, one *verdict.Tuned) error {
	_, right, err := o.tuneCase(ctx, r, op, one, judge.Spec{Shape: []int{1, 2, 113, 129, dim}, Dist: tensor.Normal, Causal: true}, 0)
	if err != nil || !right {
		return err
	}
	spec := judge.Spec{Shape: []int{1, 1, 256, 256, dim}, Dist: tensor.Normal}
	repeat := 0
	if o.Devices.Kind == device.CUDA {
		spec.Shape, repeat = []int{1, 16, 2048, 2048, dim}, timed
	}
	res, right, err := o.tuneCase(ctx, r, op, one, spec, repeat)
	if err != nil || !right {
		return err
	}
	w, err := op.Case(spec, o.tuneSeed(), 1)
	if err != nil {
		return err
	}
	if ns := res.Output.Counts[problem.Nanoseconds]; ns > 0 {
		s := w.Attention()
		one.Time = time.Duration(ns)
		one.TFLOPS = 4 * float64(s.QElements()) * float64(s.SeqK) / float64(ns) / 1000
	}
	one.Ratio = float64(res.Seen.Moved()) / float64(op.Least(w))
	one.Conflicts, one.Passes = res.Seen.Conflicts(), res.Seen.Passes()
	return nil
}

// tuneCase runs a case; what is timed is not judged.
func (o Options) tuneCase(ctx context.Context, r *supervise.Runner, op judge.Op, one *verdict.Tuned, spec judge.Spec, repeat int) (supervise.Result, bool, error) {
	w, err := op.Case(spec, o.tuneSeed(), 1)
	if err != nil {
		return supervise.Result{}, false, err
	}
	w.ID, w.Tiles, w.Repeat = 1, one.Tiles, repeat
	in, err := op.Inputs(w)
	if err != nil {
		return supervise.Result{}, false, err
	}
	res, err := r.Run(ctx, w, in)
	switch {
	case err != nil:
		return res, false, err
	case res.NotRun != "":
		one.Wrong = res.NotRun
	case res.Error != nil:
		one.Wrong = res.Error.Error()
	case len(res.Seen.Findings) > 0:
		one.Wrong = res.Seen.Findings[0].Headline()
	case repeat == 0:
		one.Wrong = op.Judge(w, in, *res.Output).Reason
	}
	return res, one.Wrong == "", nil
}

// tuneSeed is the seed of what is tuned on.
func (o Options) tuneSeed() uint64 { return problem.SeedOf(o.Seed, "tune") }
