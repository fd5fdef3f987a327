// Package race times code side by side, on new inputs for every run: a submission's or
// the reference's, the vendor's library, and peers. It is the source of grading's speed
// points and of `make bench`.
package race

import (
	"fmt"
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/timing"
	"flashlab/grader/tasks/registry"
)

// Workload is one thing to time.
type Workload struct {
	Name   string // "32 heads × 128, batch 64, sequence 4096, causal"
	ID     string // in files: "flash-64-4096-causal"
	Task   registry.Name
	Op     string
	Shape  []int
	Causal bool
	// Peers are what PyTorch is asked for.
	Peers []string
	// Traffic says that the workload is bound by memory: what matters is its
	// percentage of the copy rate.
	Traffic bool
	Tiles   problem.Tiles // that code is made for anew; the zero value is for the code as it is
}

// Of is a workload that a task's rubric names.
func Of(task registry.Name, all judge.Ops, w rubric.Workload) (Workload, error) {
	op, err := all.Find(w.Op)
	switch {
	case err != nil:
		return Workload{}, fmt.Errorf("task %s: a workload to time: %w", task, err)
	case op.Timed == nil || op.Timed.Title == nil:
		return Workload{}, fmt.Errorf("task %s: a workload to time: the op %q has no Timed part with a Title", task, w.Op)
	case len(w.Shape) != len(op.Timed.Small):
		return Workload{}, fmt.Errorf("task %s: a workload to time: %s%v: want %d sizes", task, w.Op, w.Shape, len(op.Timed.Small))
	}
	name, id := op.Timed.Title(w.Shape, w.Causal)
	return Workload{Name: name, ID: id, Task: task, Op: w.Op, Shape: w.Shape, Causal: w.Causal, Peers: w.Beside, Traffic: op.Timed.Memory}, nil
}

// Case is the workload as a worker gets it.
func (w Workload) Case(all judge.Ops, small bool) (judge.Op, problem.Problem, error) {
	op, err := all.Find(w.Op)
	if err != nil {
		return op, problem.Problem{}, err
	}
	shape := w.Shape
	if small {
		shape = op.Timed.Small
	}
	c, err := op.TimedCase(op.TimedSpec(shape, w.Causal))
	if err != nil {
		return op, c, fmt.Errorf("the workload %s: %w", w.Name, err)
	}
	c.Tiles = w.Tiles
	return op, c, nil
}

// Fewer is a workload that fits into a laptop's memory, and how many times as much the whole one is. Sequences stay as
// long as they are: only their number falls, and with it the number of blocks, as many times.
func (w Workload) Fewer(all judge.Ops) (Workload, float64, error) {
	op, err := all.Find(w.Op)
	if err != nil {
		return w, 0, err
	}
	whole := w.Shape[0]
	if op.Timed.Counted > 0 {
		w.Shape = slices.Clone(w.Shape)
		w.Shape[0] = min(whole, op.Timed.Counted)
	}
	return w, float64(whole) / float64(w.Shape[0]), nil
}

// Bytes are what the case's tensors take on the device.
func Bytes(c problem.Problem) int64 { return int64(judge.Bytes(c.Inputs, c.Outputs)) }

// Needs is the same with what an operation keeps besides.
func Needs(op judge.Op, c problem.Problem) int64 {
	if op.Timed.Held == nil {
		return Bytes(c)
	}
	return Bytes(c) + op.Timed.Held(c)
}

// WorkOf is the least work that the case requires.
func WorkOf(op judge.Op, c problem.Problem) timing.Work {
	least := op.Least
	if op.Floor != nil {
		least = op.Floor
	}
	return timing.Work{FLOPS: op.Timed.FLOPS(c), Bytes: float64(least(c)), Written: float64(judge.Bytes(judge.Written(c)))}
}

// Fits tells whether a workload and its baseline fit in so much device memory.
func Fits(op judge.Op, c problem.Problem, free int64) bool {
	n := Needs(op, c)
	if op.Timed.LikeBaseline() { // the baseline is in it; what a layer takes is an estimate
		return float64(n)*1.25 < float64(free)
	}
	return float64(n)*1.05+10e9 < float64(free) || n < free/8
}
