package supervise

import (
	"context"
	"time"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
)

// Talk is a timed case that goes on: see wire.Ready.
type Talk struct {
	Ready wire.Ready

	runner *Runner
	worker *worker
	ctx    context.Context
	failed *wire.Error // the worker's end
}

// Time begins a timed case. The worker's error is the second result, the grader's
// own the third. End must be called.
func (r *Runner) Time(ctx context.Context, c problem.Problem) (*Talk, *wire.Error, error) {
	if r.worker == nil {
		w, failed, err := start(r.Spec, r.Backend, r.limit())
		if err != nil {
			return nil, nil, err
		}
		if failed != nil {
			return nil, failed, r.Backend.Renew()
		}
		r.worker = w
	}
	c.Timed = true
	t := &Talk{runner: r, worker: r.worker, ctx: ctx}
	if err := t.ask(c, &t.Ready); err != nil {
		return nil, t.failed, t.End()
	}
	if t.Ready.Error != nil {
		return nil, t.Ready.Error, nil
	}
	return t, nil, nil
}

// ask sends something and reads the answer, for the case's limit at most.
func (t *Talk) ask(what, answer any) error {
	stop := t.deadline()
	defer stop()
	err := frame.Write(t.worker.cases, what, nil)
	if err == nil {
		_, err = frame.Read(t.worker.cases, answer)
	}
	if err != nil {
		t.failed = t.worker.die(err, t.runner.limit())
	}
	return err
}

func (t *Talk) deadline() (stop func() bool) {
	_ = t.worker.cases.SetDeadline(time.Now().Add(t.runner.limit()))
	return context.AfterFunc(t.ctx, func() { _ = t.worker.cases.SetDeadline(time.Unix(1, 0)) })
}

// Run asks for one run, and measures from outside how long the answer took.
func (t *Talk) Run(turn wire.Turn) (took wire.Took, wall time.Duration) {
	if t.failed != nil {
		return wire.Took{Error: t.failed}, 0
	}
	start := time.Now()
	if err := t.ask(turn, &took); err != nil {
		return wire.Took{Error: t.failed}, time.Since(start)
	}
	return took, time.Since(start)
}

// Pieces fetches parts of an output that the last run wrote: size values from each offset.
func (t *Talk) Pieces(output int, from []int, size int) ([]float32, *wire.Error) {
	if t.failed != nil {
		return nil, t.failed
	}
	stop := t.deadline()
	defer stop()
	var values []float32
	var p wire.Pieces
	err := frame.Write(t.worker.cases, wire.Turn{Of: output, Rows: from, Size: size}, nil)
	if err == nil {
		p, values, err = wire.ReadPieces(t.worker.cases, size*len(from))
	}
	if err != nil {
		t.failed = t.worker.die(err, t.runner.limit())
		return nil, t.failed
	}
	return values, p.Error
}

// End lets the worker go on to the next case, or ends it if it is no longer of use.
func (t *Talk) End() error {
	if t.failed == nil {
		_ = t.worker.cases.SetDeadline(time.Now().Add(t.runner.limit()))
		if frame.Write(t.worker.cases, wire.Turn{End: true}, nil) == nil {
			return nil
		}
	}
	return t.runner.renew()
}
