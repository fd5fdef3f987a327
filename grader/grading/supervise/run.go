package supervise

import (
	"context"
	"errors"
	"fmt"
	"time"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/internal/jail"
	"flashlab/tensor"
)

// Result is the result of one case.
type Result struct {
	Output  *problem.Answer // nil where there is an error
	Error   *wire.Error
	NotRun  string // why the case was left out; then the rest is empty
	Seen    Observed
	Printed string // what the worker printed meanwhile, bounded
}

// maxGrace is what a worker gets beyond a case's own time: the simulator stops a
// slow kernel on its own, and its message is better.
const maxGrace = 5 * time.Second

// maxDeaths is how many workers in a row may die before the rest of the cases
// is given up.
const maxDeaths = 2

// giver is a backend that fills its device with inputs, which the worker does not see.
type giver interface {
	Give(c problem.Problem, in []*tensor.Tensor)
}

// Runner runs cases on one backend, with one worker at a time.
type Runner struct {
	Spec    Spec
	Backend Backend
	Limit   time.Duration // of a case

	worker *worker
	deaths int
	last   *wire.Error
}

// Run runs one case on its inputs. The error is the grader's own failure, never
// the submission's.
func (r *Runner) Run(ctx context.Context, c problem.Problem, in []*tensor.Tensor) (Result, error) {
	if r.deaths >= maxDeaths {
		return Result{NotRun: fmt.Sprintf("the program died %d times in a row: %s", r.deaths, r.last.Text)}, nil
	}
	if r.worker == nil {
		w, failed, err := start(r.Spec, r.Backend, r.limit())
		if err != nil {
			return Result{}, err
		}
		if failed != nil {
			r.died(failed)
			return Result{Error: failed}, r.Backend.Renew()
		}
		r.worker = w
	}
	if g, gives := r.Backend.(giver); gives {
		g.Give(c, in)
	}
	var res Result
	res.Output, res.Error = r.worker.run(ctx, c, in, r.limit())
	if err := ctx.Err(); err != nil { // the case was broken off, so it tells nothing
		r.worker.stop()
		r.worker = nil
		return Result{}, err
	}
	res.Printed = r.worker.words
	seen, err := r.Backend.Observe()
	if err == nil {
		res.Seen = seen
	} else if errors.As(err, new(*jail.Error)) || res.Error == nil {
		return res, err
	}
	gone := r.worker.dead != nil
	if gone {
		r.died(res.Error)
	} else {
		r.deaths = 0
	}
	// A stopped kernel leaves the device, and with it the worker, useless.
	if gone || (res.Error != nil && res.Error.Class == wire.Fault) {
		return res, r.renew()
	}
	return res, nil
}

// limit is how long a worker may take before it is given up.
func (r *Runner) limit() time.Duration { return r.Limit + min(r.Limit, maxGrace) }

func (r *Runner) died(e *wire.Error) {
	r.deaths++
	r.last = e
}

// renew starts over with the next case.
func (r *Runner) renew() error {
	if r.worker != nil {
		r.worker.stop()
		r.worker = nil
	}
	return r.Backend.Renew()
}

// Close ends the worker; the backend stays.
func (r *Runner) Close() error {
	if r.worker == nil {
		return nil
	}
	return r.renew()
}
