package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/grading/wire"
	"flashlab/nn"
)

// Shown is one case in the simulator, and all that it saw.
type Shown struct {
	Name    string // "softmax/17x113"
	Problem problem.Problem
	Case    verdict.Outcome
	Seen    supervise.Observed
	Against string   // what Case.Least is, if not the least bytes
	Sources []Source // of the kernels that may have run
	Record  []byte   // what a task of plain Go asked of its machine, and with what counts it answered
	Counts  map[string]uint64
	Timed   []trace.Counts // what an estimate of time is made from; none where the case is not right
}

// Source is a file of kernels.
type Source struct{ Name, Path, Text string }

// Show runs the first case that o.Only names, in the simulator.
func Show(ctx context.Context, o Options) (*Shown, error) {
	if !o.Task.OnDevice() && !o.recorded() {
		return nil, fmt.Errorf("task %s has neither kernels nor tiles: it is plain Go", o.Task.Name)
	}
	o.Devices.Kind, o.Devices.Lines = device.Sim, true
	check, one, err := o.firstCase()
	if err != nil {
		return nil, err
	}
	s, err := o.prepare()
	if err != nil {
		return nil, notRun(err)
	}
	defer s.close()
	p := noDevice
	if o.Task.OnDevice() {
		p = o.Devices.passes()[0]
	}
	built, err := s.build(ctx, p)
	if err != nil {
		return nil, err
	}
	backend, err := p.open(o.Task, s.files)
	if err != nil {
		return nil, err
	}
	r := &supervise.Runner{Spec: s.spec(p, built), Backend: backend, Limit: o.Task.Limits.CaseTime()}
	shown, err := o.show(ctx, r, check, one)
	if closed := backend.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	if o.Estimate != nil && o.Task.OnDevice() && shown.Case.Passed && !shown.Seen.Stopped {
		if shown.Timed, err = s.again(ctx, r.Spec, shown.Problem); err != nil {
			return nil, err
		}
	}
	shown.Sources = s.sources()
	return shown, nil
}

// again runs a case that is right once more, in a simulator that only counts. Where that does not end well, which costs
// nobody anything, there are no counts.
func (s *prepared) again(ctx context.Context, spec supervise.Spec, c problem.Problem) ([]trace.Counts, error) {
	const all = 0 // blocks: a case is small
	backend, err := s.o.Devices.counting(all).open(s.o.Task, s.files)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	r := &supervise.Runner{Spec: spec, Backend: backend, Limit: TurnTime}
	defer r.Close()
	counts, err := Counter{s.o.Ops, r}.of(ctx, c)
	if errors.Is(err, errNotCounted) {
		return nil, ctx.Err()
	}
	return counts, err
}

// recorded: the task's code runs on a machine that keeps a record.
func (o Options) recorded() bool {
	return slices.ContainsFunc(o.Task.Checks, func(c rubric.Check) bool {
		op, err := o.Ops.Find(c.Op)
		return err == nil && op.Replay != nil
	})
}

// firstCase is the one to show. A case whose right answer is an error may run no kernel.
func (o Options) firstCase() (rubric.Check, rubric.Case, error) {
	if o.Only == "" {
		return rubric.Check{}, rubric.Case{}, fmt.Errorf("say which case: CASE=%s, or a part of a name, as %s\n%s", o.Task.Checks[0].ID, o.example(), o.caseNames())
	}
	p, err := o.Plan()
	if err != nil {
		return rubric.Check{}, rubric.Case{}, err
	}
	for _, c := range p.Checks {
		if i := slices.IndexFunc(c.Cases, func(k rubric.Case) bool { return !k.Refused }); i >= 0 {
			return c, c.Cases[i], nil
		}
	}
	return rubric.Check{}, rubric.Case{}, fmt.Errorf("of the case %q the right answer is an error: no kernel need run", o.Only)
}

func (o Options) show(ctx context.Context, r *supervise.Runner, c rubric.Check, k rubric.Case) (*Shown, error) {
	defer r.Close()
	op, err := o.Ops.Find(c.Op)
	if err != nil {
		return nil, err
	}
	w, err := o.WireCase(op, c, k, 1)
	if err != nil {
		return nil, err
	}
	in, err := op.Inputs(w)
	if err != nil {
		return nil, err
	}
	res, err := r.Run(ctx, w, in)
	if err != nil {
		return nil, err
	}
	s := &Shown{Name: c.ID + "/" + k.Name, Problem: w, Seen: res.Seen, Against: op.Against,
		Case: verdict.Outcome{Name: k.Name, Shape: k.Shape, Dist: k.Dist, Causal: k.Causal, Hidden: k.Hidden, Each: k.Each, Traffic: k.Traffic}}
	if op.Replay != nil && res.Output != nil {
		s.Record, s.Counts = res.Output.Record, res.Output.Counts
		if err := op.Replay(w, in, res.Output); err != nil {
			res.Error = &wire.Error{Class: wire.Failed, Text: err.Error()}
		}
	}
	decide(&s.Case, op, w, in, res)
	o.nameStub(&s.Case)
	if res.Seen.Stopped {
		s.Case.Reason, s.Case.Least = fmt.Sprintf("Kernels have run for %v, which is enough to see what they do: what would have come after is left out.", supervise.Enough), 0
	}
	if op.Replay != nil {
		if len(s.Record) == 0 {
			return nil, fmt.Errorf("%s: no tile was made, so there is nothing to show: %s", s.Name, s.Case.Reason)
		}
		return s, nil
	}
	if len(s.Seen.Counts)+len(s.Seen.Findings) == 0 {
		why := s.Case.Reason
		if why == "" {
			why = "the result is right all the same"
		}
		return nil, fmt.Errorf("%s: no kernel ran, so there is nothing to show: %s", s.Name, why)
	}
	return s, nil
}

// sources are the files whose kernels may have run: the subject's first, then the course's own.
func (s *prepared) sources() (all []Source) {
	for _, f := range s.files {
		if ext := filepath.Ext(f.Name); ext == ".cu" || ext == ".cuh" {
			all = append(all, Source{f.Name, f.Path, string(f.Data)})
		}
	}
	for _, t := range s.o.Task.All() {
		for _, name := range t.Provided {
			if filepath.Ext(name) != ".cu" {
				continue
			}
			path := filepath.Join(t.Dir, name)
			if text, err := os.ReadFile(filepath.Join(s.o.Root, path)); err == nil {
				all = append(all, Source{name, path, string(text)})
			}
		}
	}
	course, _ := nn.Sources() // embedded: they are there
	for _, one := range course {
		all = append(all, Source{one.Name, filepath.Join("nn", one.Name), one.Text})
	}
	return all
}
