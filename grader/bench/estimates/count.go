// Package estimates holds the simulator's estimate of time against what the reference's page measured: every version of
// every solution, on the workloads that its page times.
package estimates

import (
	"context"
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

const turn = 5 * time.Minute // that a version may take on one workload

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
	fewer, times, err := race.Workload{Op: r.Op, Shape: r.Shape}.Fewer(rooms.Ops)
	r.Counted, r.Times = fewer.Shape, times
	return r, err == nil
}

// count runs a version in the simulator on all of its rows.
func count(ctx context.Context, root string, task *rubric.Task, version string, rungs []Rung, done func(Rung) error) error {
	o := run.Options{Root: root, Task: task, Ops: rooms.Ops, Seed: 1, Output: filepath.Join(root, "out"), Subject: run.Solution(root, task),
		Devices: run.Devices{Root: root, Kind: device.Sim}}
	if version != "" {
		o.Subject = run.Version(root, task, version)
	}
	counter, closed, err := run.Counting(ctx, o, turn)
	if err != nil {
		return err
	}
	defer closed()
	for _, rung := range rungs {
		kernels, err := counter.Workload(ctx, race.Workload{Op: rung.Op, Shape: rung.Counted, Causal: rung.Causal})
		if err != nil {
			return fmt.Errorf("%s %v: %w", rung.Op, rung.Counted, err)
		}
		for _, k := range kernels {
			k.LineCounts, k.LineSteps = nil, nil
			rung.Kernels = append(rung.Kernels, k)
		}
		if err := done(rung); err != nil {
			return err
		}
	}
	return nil
}
