// Package estimates holds the simulator's estimate of time against what the reference's page measured: every version of
// every solution, on the workloads that its page times.
package estimates

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/tasks/rooms"
)

// Rung is one version on one workload: what a GPU took, and what the simulator counted.
type Rung struct {
	Task, Version, Op string
	Shape             []int
	Causal            bool   `json:",omitempty"`
	GPU               string // that it was timed on
	Nanoseconds       float64
	Counted           []int // the shape that was counted
	Times             float64
	Kernels           []trace.Counts // of a sample of the blocks of that shape
}

const (
	sample = 8               // blocks of a launch that run
	turn   = 5 * time.Minute // that a version may take on one workload
)

// Missing counts the rows of a part's that are not among the rungs, and hands each over.
func Missing(ctx context.Context, root string, task *rubric.Task, rows []page.Version, have []Rung, done func(Rung) error) error {
	var names []string
	for _, v := range rows {
		if !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	for _, name := range names {
		var some []Rung
		for _, v := range rows {
			if r, ok := rungOf(task, v); ok && v.Name == name && !slices.ContainsFunc(have, r.same) {
				some = append(some, r)
			}
		}
		if len(some) == 0 {
			continue
		}
		if err := count(ctx, root, task, name, some, done); err != nil {
			return fmt.Errorf("task %s, version %q: %w", task.Name, name, err)
		}
	}
	return nil
}

// rungOf is a row of the page, if it has a time that counts.
func rungOf(task *rubric.Task, v page.Version) (r Rung, ok bool) {
	if len(v.Row.Entries) == 0 || v.Row.Entries[0].Wrong != "" || v.Row.Entries[0].Stats.N == 0 {
		return r, false
	}
	r = Rung{Task: string(task.Name), Version: v.Name, Op: v.Row.Op, Shape: v.Row.Shape, Causal: v.Row.Causal, GPU: v.Row.Device.Name,
		Nanoseconds: v.Row.Entries[0].Stats.Median}
	r.Counted, r.Times = smaller(v.Row.Op, v.Row.Shape)
	return r, true
}

// count runs a version in the simulator on all of its rows.
func count(ctx context.Context, root string, task *rubric.Task, version string, rungs []Rung, done func(Rung) error) error {
	o := run.Options{Root: root, Task: task, Ops: rooms.Ops, Seed: 1, Output: filepath.Join(root, "out"), Subject: run.Solution(root, task),
		Devices: run.Devices{Root: root, Kind: device.Sim, Sample: sample}}
	if version != "" {
		o.Subject = run.Version(root, task, version)
	}
	r, closed, err := run.Open(ctx, o, turn)
	if err != nil {
		return err
	}
	defer closed()
	for _, rung := range rungs {
		if err := rung.count(ctx, r); err != nil {
			return fmt.Errorf("%s %v: %w", rung.Op, rung.Counted, err)
		}
		if err := done(rung); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rung) count(ctx context.Context, on *supervise.Runner) error {
	w := race.Workload{Op: r.Op, Shape: r.Counted, Causal: r.Causal}
	op, c, err := w.Case(rooms.Ops, false)
	if err != nil {
		return err
	}
	c.Timed, c.ID = false, 1 // the simulator has no clock
	in, err := op.Inputs(c)
	if err != nil {
		return err
	}
	res, err := on.Run(ctx, c, in)
	switch {
	case err != nil:
		return err
	case res.NotRun != "":
		return errors.New(res.NotRun)
	case res.Error != nil:
		return res.Error
	}
	for _, k := range res.Seen.Counts {
		k.LineCounts = nil
		r.Kernels = append(r.Kernels, k)
	}
	return nil
}

// smaller is a workload that fits into a laptop's memory, and how many times as much the whole one is. Sequences stay as
// long as they are: only their number falls, where a launch's blocks are as many times fewer.
func smaller(op string, shape []int) (counted []int, times float64) {
	counted = slices.Clone(shape)
	switch op {
	case "softmax":
		counted[0] = shape[0] / 16
	case "flash", "rope_halves", "halves_float16", "int8_block":
		counted[0] = 1
	case "decode", "qkv_float16":
		counted[0] = min(shape[0], 2)
	case "decode_float16", "decode_int8", "decode_int4": // a tensor may have 2^24 numbers
		counted[0] = min(shape[0], 4)
	}
	return counted, float64(shape[0]) / float64(counted[0])
}
