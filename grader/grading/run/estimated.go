package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"flashlab/device"
	"flashlab/device/estimate"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// A student waits for it, so a few blocks of each launch have to do, and there is no estimate on a machine where these
// take longer.
const (
	fewBlocks    = 4
	estimateTime = 30 * time.Second
)

// What a workload may be, for an estimate: the simulator holds its tensors, and so does the grader.
const (
	mostBytes = 1 << 30
	manyFLOPS = 5e10 // of all its blocks, some of which are counted; a rung below is taken, if there is one
	mostFLOPS = 3e11
)

// estimates says of each check with points for speed how long its workload would take on a GPU, where there is none.
func (o Options) estimates(ctx context.Context, ready *prepared, spec supervise.Spec, s plan, runs [][]score.Run, measured []score.Measured) error {
	if o.Estimate == nil || o.Devices.Kind != device.Sim || strings.Contains(o.Only, "/") || o.Few > 0 || o.UntilWrong {
		return nil
	}
	var count *Counter
	for i, c := range s.Checks {
		if o.Task.Split(c).Speed == 0 || !allRight(runs[i]) {
			continue
		}
		w, times, ok := o.countable(c)
		if !ok {
			continue
		}
		if count == nil { // its kernels are compiled anew
			backend, err := o.Devices.counting(fewBlocks).open(o.Task, ready.files)
			if err != nil {
				return err
			}
			defer backend.Close()
			r := &supervise.Runner{Spec: spec, Backend: backend, Limit: estimateTime}
			defer r.Close()
			count = &Counter{o.Ops, r}
		}
		if o.Progress != nil {
			o.Progress(i, len(s.Checks), "estimating the speed of "+c.ID)
		}
		e, err := o.estimate(ctx, count, w, times)
		if err != nil {
			return err
		}
		measured[i].Speed.Estimate = e
	}
	return ctx.Err()
}

// allRight tells whether a check's cases are all as they should be: only then does it matter how fast they are.
func allRight(runs []score.Run) bool {
	for _, r := range runs {
		if !r.Case.Passed && r.Result.NotRun != score.TooMuch {
			return false
		}
	}
	return len(runs) > 0
}

// countable is the workload of a check that an estimate is made of, and how many times as much is timed on a GPU: the
// first that fits there and, with fewer sequences, here. There is none where another task's worker would be timed.
func (o Options) countable(c rubric.Check) (best race.Workload, by float64, ok bool) {
	for _, rung := range c.Ladder {
		w := race.Workload{ID: c.ID, Task: o.Task.Name, Op: cmp.Or(rung.Op, c.Op), Shape: rung.Shape, Causal: rung.Causal}
		op, whole, err := w.Case(o.Ops, false)
		if err != nil || c.Worker != "" || !race.Fits(op, whole, int64(o.Estimate.Bytes)) {
			continue
		}
		w.Name = sizesOf(op, rung)
		fewer, times, err := w.Fewer(o.Ops)
		if err != nil {
			continue
		}
		full := fewer // a mask does not choose the rung
		full.Causal = false
		op, some, err := full.Case(o.Ops, false)
		if err != nil || race.Needs(op, some) > mostBytes || op.Timed.FLOPS(some) > mostFLOPS {
			continue
		}
		best, by, ok = fewer, times, true
		if op.Timed.FLOPS(some) <= manyFLOPS {
			break
		}
	}
	return best, by, ok
}

// estimate counts a workload and says how long it would take. What goes wrong with it costs nobody anything.
func (o Options) estimate(ctx context.Context, count *Counter, w race.Workload, times float64) (*verdict.Estimate, error) {
	began := time.Now()
	kernels, err := count.Workload(ctx, w)
	e := &verdict.Estimate{GPU: o.Estimate.Name, Workload: w.Name}
	switch {
	case errors.Is(err, errNotCounted):
		e.Text = "no estimate: " + firstLine(err)
		if time.Since(began) >= estimateTime {
			e.Text = fmt.Sprintf("no estimate: this machine takes longer than %v to count %d blocks", estimateTime, fewBlocks)
		}
	case err != nil:
		return nil, err
	case len(kernels) == 0:
		e.Text = "no estimate: no kernel ran"
	default:
		whole := o.Estimate.Whole(kernels, times)
		e.Seconds, e.Deviation, e.Bound, e.Text = whole.Seconds, whole.Deviation, whole.Bound, whole.Text(*o.Estimate)
	}
	return e, nil
}

// Estimating finds the GPU that estimates are for: by name, "" for the one whose times they were fitted to, and "no" for
// none.
func Estimating(name string) (*estimate.GPU, error) {
	switch name {
	case "no":
		return nil, nil
	case "":
		name = estimate.GPUs[0].Name
	}
	g, err := estimate.Find(name)
	if err != nil {
		return nil, fmt.Errorf("ESTIMATE=%s: %w; or no", name, err)
	}
	return &g, nil
}
