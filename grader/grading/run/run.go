package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/replay"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/grading/wire"
	"flashlab/tensor"
)

// run runs all cases of the plan on one device.
func (o Options) run(ctx context.Context, s plan, b supervise.Backend, spec supervise.Spec, done func(name string)) (runs [][]score.Run, err error) {
	r := &supervise.Runner{Spec: spec, Backend: b, Limit: o.Task.Limits.CaseTime()}
	defer func() {
		if closed := r.Close(); err == nil {
			err = closed
		}
	}()
	// What a record asks for is done in a process of its own: the record is a stranger's.
	apart := &replay.Runner{Dir: filepath.Dir(spec.Binary), Limit: o.Task.Limits.CaseTime(), Memory: o.Task.Limits.MemoryBytes(), Jail: o.Devices.Jail}
	passed := map[string]bool{}
	id := 0
	stopped := false
	for _, c := range s.Checks {
		blocked := o.firstMissing(c.After, passed)
		var these []score.Run
		endless := 0
		for _, k := range c.Cases {
			id++
			blocked := blocked
			if k.GPU && b.Kind() != device.CUDA {
				blocked = score.TooMuch
			}
			if endless == maxEndless {
				blocked = fmt.Sprintf("%d cases in a row did not end", endless)
			}
			if stopped {
				blocked = "an earlier case is wrong"
			}
			res, one, err := o.runCase(ctx, r, apart, c, k, id, blocked)
			if err != nil {
				return nil, err
			}
			stopped = stopped || o.UntilWrong && (!one.Passed || len(res.Seen.Findings) > 0)
			if endless++; !didNotEnd(res) {
				endless = 0
			}
			name := c.ID + "/" + k.Name
			one.Again = o.Again(name)
			passed[c.ID] = passed[c.ID] || (one.Passed && !one.Refused)
			res.Output = nil // judged: no longer needed
			these = append(these, score.Run{Result: res, Case: one})
			done(name)
		}
		runs = append(runs, these)
	}
	return runs, nil
}

// maxEndless is how many cases of a check may run into the simulator's limits, one
// after the other, before the rest of it is given up: each takes seconds.
const maxEndless = 3

func didNotEnd(res supervise.Result) bool {
	return slices.ContainsFunc(res.Seen.Findings, func(f trace.Finding) bool { return f.Fatal && f.Check == "limits" })
}

// firstMissing says which check has to have a case right before this one runs, by the title that a student sees.
func (o Options) firstMissing(after []string, passed map[string]bool) string {
	for _, c := range o.Task.Checks {
		if slices.Contains(after, c.ID) && !passed[c.ID] {
			return c.Title + verdict.ComesFirst + ": none of its cases is right yet"
		}
	}
	return ""
}

// runCase runs one case and decides on it.
func (o Options) runCase(ctx context.Context, r *supervise.Runner, apart *replay.Runner, c rubric.Check, k rubric.Case, id int, blocked string) (supervise.Result, verdict.Outcome, error) {
	v := verdict.Outcome{Name: k.Name, Shape: k.Shape, Dist: k.Dist, Causal: k.Causal, Hidden: k.Hidden, Refused: k.Refused, Weight: k.Weight, Traffic: k.Traffic, Each: k.Each}
	if blocked != "" {
		v.Class, v.Reason = "not_run", "not run: "+blocked
		return supervise.Result{NotRun: blocked}, v, nil
	}
	op, err := o.Ops.Find(c.Op)
	if err != nil {
		return supervise.Result{}, v, err // the rubric's validation knows better
	}
	w, err := o.WireCase(op, c, k, id)
	if err != nil {
		return supervise.Result{}, v, err
	}
	in, err := op.Inputs(w)
	if err != nil {
		return supervise.Result{}, v, err
	}
	res, err := r.Run(ctx, w, in)
	if err != nil {
		return res, v, err
	}
	if op.Replay != nil && res.Output != nil {
		res.Output, err = apart.Run(ctx, w, in, res.Output)
		var theirs *wire.Error
		if errors.As(err, &theirs) {
			res.Error = theirs
		} else if err != nil {
			return res, v, err
		}
	}
	decide(&v, op, w, in, res)
	if op.Closer != "" && !v.Passed && res.Output != nil {
		if err := o.lookCloser(ctx, r, op.Closer, c, k, id, &v); err != nil {
			return res, v, err
		}
	}
	suspect(&v, op, w, res.Seen)
	o.nameStub(&v)
	o.keepPrints(&v, res)
	return res, v, nil
}

// lookCloser runs a wrong case again by another operation, and takes its reason if it finds fault, too.
func (o Options) lookCloser(ctx context.Context, r *supervise.Runner, name string, c rubric.Check, k rubric.Case, id int, v *verdict.Outcome) error {
	op, err := o.Ops.Find(name)
	if err != nil {
		return err
	}
	w, err := o.WireCase(op, c, k, id)
	if err != nil {
		return err
	}
	in, err := op.Inputs(w)
	if err != nil {
		return err
	}
	res, err := r.Run(ctx, w, in)
	if err != nil || res.Output == nil {
		return err
	}
	if j := op.Judge(w, in, *res.Output); !j.Passed {
		v.Reason, v.Details = j.Reason, j.Details
	}
	return nil
}

// nameStub says of a case that came to a stub where to start.
func (o Options) nameStub(v *verdict.Outcome) {
	if v.Reason == attn.ErrNotImplemented.Error() {
		v.Reason += fmt.Sprintf(": still the stub (%s says where to start)", filepath.Join(o.Task.Dir, "README.md"))
	}
}

// decide rules on a case's result.
func decide(v *verdict.Outcome, op judge.Op, w problem.Problem, in []*tensor.Tensor, res supervise.Result) {
	v.Least = op.Least(w)
	if res.Seen.Measured {
		v.Moved, v.Spilled = res.Seen.Moved()+byHost(op, w, res.Seen), res.Seen.Spilled()
		if v.Traffic {
			v.Counted, v.Lines = counted(res.Seen), verdict.Worst(res.Seen.Counts)
		}
	}
	switch {
	case res.NotRun != "":
		v.Class, v.Reason = "not_run", "not run: "+res.NotRun
		return
	case res.Error != nil:
		v.Class, v.Reason = string(res.Error.Class), res.Error.Error()
		return
	}
	if moved, counted := res.Output.Counts[problem.Moved]; counted && !res.Seen.Measured {
		v.Moved = moved
	}
	j := op.Judge(w, in, *res.Output)
	v.Passed, v.Reason, v.Details = j.Passed, j.Reason, j.Details
	v.Error, v.Bound, v.Told = j.Error, j.Bound, j.Told
	if !res.Seen.Measured {
		tooLittle(v, w, res.Output.Counts)
	}
	if res.Seen.Changed != "" {
		changed(v, res.Seen.Changed, w)
	}
	stopped(v, res.Seen)
	if op.Spread != nil && v.Passed && !w.Refused && res.Seen.Measured {
		blocks, bytes := op.Spread(w)
		unshared(v, blocks, bytes, res.Seen)
	}
	if op.Scratch != nil && v.Passed {
		tooMuch(v, w, op.Scratch(w), res.Seen.Peak)
	}
	if len(res.Seen.Findings) > 0 && !v.Passed {
		v.Details = append(v.Details, "the simulator found fault with this case (see safety): look there first")
	}
}

// tooLittle fails a case whose own count cannot be: each input is read at least once, and
// each output written. Such a count was not come by honestly, so what else came is not
// believed either.
func tooLittle(v *verdict.Outcome, w problem.Problem, counts map[string]uint64) {
	least := judge.Once(w)
	if moved, counted := counts[problem.Moved]; counted && v.Passed && moved < least {
		v.Passed = false
		v.Reason = fmt.Sprintf("the values are right, but %d bytes were moved, and the inputs and outputs alone have %d: this count cannot be", moved, least)
	}
}

// changed fails a case that wrote to an input. Where the values are wrong as well, their reason stays, unless there are none.
func changed(v *verdict.Outcome, what string, w problem.Problem) {
	why := "the call changed its input " + what
	if strings.HasPrefix(v.Reason, judge.NothingWritten) && len(w.Outputs) > 0 {
		v.Reason = fmt.Sprintf("%s to %s, but to its input %s: are the two exchanged where the kernel is launched?",
			judge.NothingWritten, w.Outputs[0].Name, what)
		return
	}
	if !v.Passed {
		v.Details = append(v.Details, why)
		return
	}
	v.Passed = false
	v.Reason = "the values are right, but " + why + ": inputs must stay as they are"
	if len(w.Outputs) > 0 {
		v.Reason += "; write to " + w.Outputs[0].Name + " instead"
	}
}

// tooMuch fails a case that took more device memory than the task allows.
func tooMuch(v *verdict.Outcome, w problem.Problem, allowed, peak uint64) {
	if scratch := peak - min(peak, judge.Bytes(w.Inputs, judge.Written(w))); scratch > allowed {
		v.Passed = false
		v.Reason = fmt.Sprintf("the values are right, but %d bytes of device memory were taken besides %s, and %d are allowed", scratch, tensorsOf(w), allowed)
		if w.Sizes["seqk"] > 0 {
			v.Reason += ": no matrix with a number for each pair of query and key; keep a tile's scores in registers or shared memory"
		}
	}
}

// tensorsOf names what a case has: q, k, v and out.
func tensorsOf(w problem.Problem) string {
	var names []string
	for _, t := range slices.Concat(w.Inputs, judge.Written(w)) {
		names = append(names, t.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
