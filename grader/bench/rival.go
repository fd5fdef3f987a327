package bench

import (
	"context"

	"flashlab/grader/host"
	"flashlab/grader/timing"
	"flashlab/grader/wire"
)

// Rival is other code for the same workloads, in a worker of its own: the reference
// solution, beside somebody else's.
type Rival struct {
	Name   string
	Runner *host.Runner

	talk *host.Talk
}

func (v *Rival) racers(ctx context.Context, _ Workload, c wire.Case) []Racer {
	talk, failed, err := v.Runner.Time(ctx, c)
	switch {
	case err != nil:
		return []Racer{absent{v.Name, err.Error()}}
	case failed != nil:
		return []Racer{absent{v.Name, failed.Error()}}
	}
	v.talk = talk
	return []Racer{besides{&inWorker{talk, wire.Ours, v.Name}}}
}

func (v *Rival) end() {
	if v.talk != nil {
		_ = v.talk.End()
	}
	v.talk = nil
}

// guest is a racer whose failure is no fault of the code in question.
type guest interface{ guest() }

func (*fromTorch) guest() {}

// besides is a worker's code that is not the code in question.
type besides struct{ *inWorker }

func (besides) guest() {}

// absent is a racer that could not begin.
type absent struct{ name, why string }

func (absent) guest()         {}
func (a absent) Name() string { return a.name }
func (absent) Checked() bool  { return false }

func (a absent) Run(wire.Turn) timing.Run {
	return timing.Run{Took: wire.Took{Error: &wire.Error{Class: wire.Failed, Text: a.why}}}
}

func (absent) Pieces([]int, int) ([]float32, *wire.Error) { return nil, nil }
