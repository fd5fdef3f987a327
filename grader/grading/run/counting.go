package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/device/trace"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
)

const (
	countedBlocks = 8           // of each launch, that constants are fitted to
	countingTime  = time.Minute // that a launch's blocks may run
)

// counting is how the simulator runs what an estimate of time is made from: large shapes, of which only some blocks
// run, compiled more as nvcc does. Nothing is looked for, and what is computed is not complete.
func (d Devices) counting(blocks int) pass {
	return pass{kind: device.Sim, open: func(t *rubric.Task, files []gate.File) (supervise.Backend, error) {
		return supervise.NewSimulator(sim.Options{Checks: sim.Checks{Traffic: true}, FLOPs: true, Unroll: true, Lines: d.Lines, Sample: blocks, As: &device.Info{Arch: "sm_90", Processors: 132},
			Timeout: countingTime, Memory: 4 * simulated, Cache: d.Cache, Jail: d.Jail}, rulesWith(t, files), d.ofTheCourse())
	}}
}

var errNotCounted = errors.New("not counted")

// Counter counts what the kernels of a workload do.
type Counter func(context.Context, race.Workload) ([]trace.Counts, error)

// Counting builds a subject and makes it ready to be counted. Each workload may take limit. closed releases everything.
func Counting(ctx context.Context, o Options, limit time.Duration) (count Counter, closed func(), err error) {
	r, closed, err := open(ctx, o, o.Devices.counting(countedBlocks), limit)
	return counter(o.Ops, r), closed, err
}

// counter counts on a runner whose device does.
func counter(all judge.Ops, r *supervise.Runner) Counter {
	return func(ctx context.Context, w race.Workload) ([]trace.Counts, error) {
		op, c, err := w.Case(all, false)
		if err != nil {
			return nil, err
		}
		c.Timed, c.ID = false, 1 // the simulator has no clock
		in, err := op.Inputs(c)
		if err != nil {
			return nil, err
		}
		res, err := r.Run(ctx, c, in)
		switch {
		case err != nil:
			return nil, err
		case didNotEnd(res):
			return nil, fmt.Errorf("%w: a few of its blocks ran for longer than %v here", errNotCounted, countingTime)
		case res.NotRun != "":
			return nil, fmt.Errorf("%w: %s", errNotCounted, res.NotRun)
		case res.Error != nil:
			return nil, res.Error
		}
		return res.Seen.Counts, nil
	}
}
