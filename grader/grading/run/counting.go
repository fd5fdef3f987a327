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
	"flashlab/grader/grading/problem"
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

// errNotCounted is the code's own failure, or that it takes too long.
var errNotCounted = errors.New("it was not counted")

// Counter counts what the kernels of a workload do, or says errNotCounted.
type Counter struct {
	ops    judge.Ops
	runner *supervise.Runner // whose device only counts
}

// Counting builds a subject and makes it ready to be counted. Each workload may take limit. closed releases everything.
func Counting(ctx context.Context, o Options, limit time.Duration) (c Counter, closed func(), err error) {
	r, closed, err := open(ctx, o, o.Devices.counting(countedBlocks), limit)
	return Counter{o.Ops, r}, closed, err
}

// Workload counts a workload that is else timed.
func (n Counter) Workload(ctx context.Context, w race.Workload) ([]trace.Counts, error) {
	_, c, err := w.Case(n.ops, false)
	if err != nil {
		return nil, err
	}
	c.Timed, c.ID = false, 1 // the simulator has no clock
	return n.of(ctx, c)
}

func (n Counter) of(ctx context.Context, c problem.Problem) ([]trace.Counts, error) {
	op, err := n.ops.Find(c.Op)
	if err != nil {
		return nil, err
	}
	in, err := op.Inputs(c)
	if err != nil {
		return nil, err
	}
	res, err := n.runner.Run(ctx, c, in)
	switch {
	case err != nil:
		return nil, err
	case didNotEnd(res):
		return nil, fmt.Errorf("%w: some of its blocks ran for longer than %v here", errNotCounted, countingTime)
	case res.NotRun != "":
		return nil, fmt.Errorf("%w: %s", errNotCounted, res.NotRun)
	case res.Error != nil:
		return nil, fmt.Errorf("%w: %w", errNotCounted, res.Error)
	}
	return res.Seen.Counts, nil
}
