package race

import (
	"context"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/wire"
)

// Rival is other code for the same workloads, in a separate worker: the reference
// solution, next to somebody else's.
type Rival struct {
	Name   string
	Runner *supervise.Runner

	talk *supervise.Talk
}

func (v *Rival) Racers(ctx context.Context, _ Workload, c problem.Problem) []Racer {
	talk, failed, err := v.Runner.Time(ctx, c)
	switch {
	case err != nil:
		return []Racer{absent{v.Name, err.Error()}}
	case failed != nil:
		return []Racer{absent{v.Name, failed.Error()}}
	}
	v.talk = talk
	return []Racer{besides{&InWorker{Talk: talk, Who: wire.Ours, name: v.Name}}}
}

func (v *Rival) End() {
	if v.talk != nil {
		_ = v.talk.End()
	}
	v.talk = nil
}

// Guest is a racer whose failure is not the fault of the code in question.
type Guest interface{ Guest() }

// besides is a worker's code that is not the code in question.
type besides struct{ *InWorker }

func (besides) Guest() {}

// absent is a racer that could not begin.
type absent struct{ name, why string }

func (absent) Guest()         {}
func (a absent) Name() string { return a.name }
func (absent) Checked() bool  { return false }

func (a absent) Run(wire.Turn) timing.Run {
	return timing.Run{Took: wire.Took{Error: &wire.Error{Class: wire.Failed, Text: a.why}}}
}

func (absent) Pieces([]int, int) ([]float32, *wire.Error) { return nil, nil }
