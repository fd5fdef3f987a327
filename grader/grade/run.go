package grade

import (
	"context"
	"fmt"
	"math"
	"strings"

	"flashlab/attn"
	"flashlab/grader/host"
	"flashlab/grader/oracle"
	"flashlab/grader/rubric"
	"flashlab/grader/score"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// run runs all cases of the plan on one device.
func (o Options) run(ctx context.Context, s plan, b host.Backend, spec host.Spec, done func(name string)) (runs [][]score.Run, err error) {
	r := &host.Runner{Spec: spec, Backend: b, Limit: o.Task.Limits.CaseTime()}
	defer func() {
		if closed := r.Close(); err == nil {
			err = closed
		}
	}()
	passed := map[string]bool{}
	id := 0
	for _, c := range s.checks {
		blocked := firstMissing(c.After, passed)
		var these []score.Run
		for _, k := range c.Cases {
			id++
			w := o.wireCase(c, k, id)
			res := host.Result{NotRun: blocked}
			if blocked == "" {
				if res, err = r.Run(ctx, w); err != nil {
					return nil, err
				}
			}
			name := c.ID + "/" + k.Name
			one, err := judge(c, k, w, res)
			if err != nil {
				return nil, err
			}
			one.Again = o.again(name)
			passed[c.ID] = passed[c.ID] || one.Passed
			res.Output = nil // judged: no longer needed
			these = append(these, score.Run{Result: res, Case: one})
			done(name)
		}
		runs = append(runs, these)
	}
	return runs, nil
}

func firstMissing(after []string, passed map[string]bool) string {
	for _, a := range after {
		if !passed[a] {
			return fmt.Sprintf("%s comes first: none of its cases is right yet", a)
		}
	}
	return ""
}

// judge decides on one case.
func judge(c rubric.Check, k rubric.Case, w wire.Case, res host.Result) (score.Case, error) {
	v := score.Case{Name: k.Name, Shape: k.Shape, Dist: k.Dist, Hidden: k.Hidden, Weight: k.Weight, Traffic: k.Traffic, Printed: res.Printed}
	if res.Seen.Measured {
		v.Moved = res.Seen.Moved()
	}
	switch {
	case res.NotRun != "":
		v.Class, v.Reason = "not_run", "not run: "+res.NotRun
		return v, nil
	case res.Error != nil:
		v.Class, v.Reason = string(res.Error.Class), res.Error.Error()
		return v, nil
	}
	switch c.Op {
	case "softmax":
		v, err := judgeSoftmax(v, w, res.Output)
		if len(res.Seen.Findings) > 0 && !v.Passed {
			v.Details = append(v.Details, "the simulator found fault with this case (see safety): look there first")
		}
		return v, err
	}
	return v, fmt.Errorf("no oracle for the operation %q", c.Op) // the rubric's validation knows better
}

func judgeSoftmax(v score.Case, w wire.Case, out *tensor.Tensor) (score.Case, error) {
	s := attn.SoftmaxShape{Outer: w.Shape[0], Len: w.Shape[1], Inner: w.Shape[2]}
	x, err := oracle.Case(w.Dist, w.Seed, w.Stream, w.Shape)
	if err != nil {
		return v, err
	}
	v.Least = 2 * 4 * uint64(len(x)) // each element read once and written once
	j := oracle.JudgeSoftmax(out.Data, x, s.Outer, s.Len, s.Inner)
	v.Passed = j.Passed
	if j.Passed {
		return v, nil
	}
	v.Reason = j.Reason
	at := tensor.Index(w.Shape, j.Worst)
	if s.Inner == 1 {
		at = at[:2]
	}
	v.Details = []string{
		fmt.Sprintf("%v, inputs %s", s, w.Dist),
		fmt.Sprintf("worst at y%s: got %s, want %s", strings.ReplaceAll(tensor.ShapeString(at), ", ", "]["), number(j.Got), number(j.Want)),
	}
	if !math.IsInf(j.Error, 0) {
		v.Details = append(v.Details, fmt.Sprintf("error %.2g of the row's RMS, %.2g allowed (8 × plain float32)", j.Error, j.Bound))
	}
	return v, nil
}

func number(f float64) string {
	if f != 0 && math.Abs(f) < 1e-4 {
		return fmt.Sprintf("%.4e", f)
	}
	return fmt.Sprintf("%.6g", f)
}
