// Package run grades one task: gate, build, cases on one device or two, and the
// verdict.
package run

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"flashlab/device"
	"flashlab/device/estimate"
	"flashlab/device/trace"
	"flashlab/grader/edition"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/copies"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// Seeds is how many seeds are drawn from: too many to be tried one by one by a submission
// that has read a number of an input, and each still a number that JSON holds exactly.
const Seeds = 1_000_000_000_000_000

// Options say what to grade, and on what.
type Options struct {
	Root     string
	Task     *rubric.Task
	Ops      judge.Ops // that its checks may name
	Subject  Subject
	Devices  Devices
	Seed     uint64
	Only     string        // "softmax/17x113", "softmax", or "" for all
	Report   bool          // what the rubric reports besides points is measured, too
	Few      int           // at most so many cases of each check, the first ones; 0 for all
	Estimate *estimate.GPU // whose times are estimated where there is none to measure on; nil: nobody's
	// UntilWrong runs nothing behind the first case that is wrong or unsafe: full marks are lost by then.
	UntilWrong bool
	Output     string // the folder that programs write to, "out"
	Release    string // the course's name in the verdict, where it is known; "" asks for it, and so git
	// Progress is told about every case that is done, and how many there are.
	Progress func(done, all int, name string)
	// GPUs are those that cases may run on, one submission on each; nil: nobody else uses them.
	GPUs *GPUs

	timer  timer  // a test's own clock
	passes []pass // a test's own devices
}

// Refuse is the verdict on a submission that could not run at all.
func Refuse(v verdict.Verdict, t *rubric.Task, why string) verdict.Verdict {
	return score.Refuse(v, t, why)
}

// Task grades. The error is the grader's own failure; what is wrong with a
// submission is in the verdict.
func Task(ctx context.Context, o Options) (verdict.Verdict, error) {
	v, err := o.task(ctx)
	score.Finish(&v)
	return v, err
}

func (o Options) task(ctx context.Context) (verdict.Verdict, error) {
	t := o.Task
	v := verdict.Verdict{Task: t.Name, Dir: t.Dir, Title: t.Title, Subject: o.Subject.Name, Device: o.deviceName(), Release: o.Release, Seed: o.Seed, Again: o.Again(""),
		Partly: o.part(), Shown: inWords(o.Devices.Show)}
	if v.Release == "" {
		v.Release = edition.Name(o.Root)
	}
	ready, err := o.prepare()
	var refused *gate.Error
	if errors.As(err, &refused) {
		return score.Refuse(v, t, refused.Error()), nil
	}
	if err != nil {
		return v, err
	}
	defer ready.close()
	s, err := o.Plan()
	if err != nil {
		return v, err
	}
	v.One = o.Only != "" && s.cases() == 1
	library, err := o.library()
	if err != nil {
		return v, err
	}
	published, err := o.published()
	if err != nil {
		return v, err
	}
	for _, f := range ready.files {
		if library != nil && f.Task == t.Dir {
			name := path.Join(f.Task, path.Base(f.Name))
			v.Copies = noteCopies(v.Copies, library.Find(name, f.Data))
			v.Like = noteLike(v.Like, t.Dir, published.Find(name, f.Data))
		}
	}
	err = o.measure(ctx, ready, s, &v, library, published)
	var broken *build.Error
	if errors.As(err, &broken) {
		return score.Refuse(v, t, broken.Error()), nil
	}
	return v, err
}

// part names what alone is graded; "" where it is the whole task.
func (o Options) part() string {
	if o.Only == "" && o.Few > 0 {
		return "a few cases"
	}
	return o.Only
}

func (o Options) deviceName() string {
	if !o.Task.OnDevice() {
		return "this machine's processor"
	}
	return o.Devices.Name()
}

// noDevice is for tasks of plain Go.
var noDevice = pass{kind: problem.NoDevice, open: func(*rubric.Task, []gate.File) (supervise.Backend, error) { return supervise.None{}, nil }}

// measure builds for each device, runs the cases there, and scores.
func (o Options) measure(ctx context.Context, ready *prepared, s plan, v *verdict.Verdict, library, published *copies.Library) error {
	var warnings []string
	measured := make([]score.Measured, len(s.Checks))
	passes := o.passes
	if passes == nil {
		passes = o.Devices.passes()
	}
	if !o.Task.OnDevice() {
		passes = []pass{noDevice}
	}
	v.Versions = fmt.Sprintf("%s, %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	all := s.cases() * len(passes)
	done := 0
	for _, p := range passes {
		res, err := ready.build(ctx, p)
		var broken *build.Error
		if err != nil && p.kind == device.CUDA && !errors.As(err, &broken) {
			return fmt.Errorf("%w\nDEVICE=sim grades in the simulator, without the GPU", err)
		}
		if err != nil {
			return err
		}
		warnings = nil // the same for each device
		for _, extra := range res.Extra {
			warnings = append(warnings, fmt.Sprintf("%s is left out: only %s are graded", extra, strings.Join(filesOf(o.Task, filepath.Dir(extra)), " and ")))
		}
		backend, err := p.open(o.Task, ready.files)
		if err != nil {
			return err
		}
		if tool := p.tool(backend); tool != "" {
			v.Versions += "; " + tool
		}
		name, release := o.alone(&p, backend)
		if p.kind == o.Devices.Kind {
			v.Device = name
		}
		spec := ready.spec(p, res)
		giveBack := sync.OnceFunc(release) // whatever happens
		defer giveBack()
		runs, err := o.run(ctx, s, backend, spec, func(name string) {
			if done++; o.Progress != nil {
				o.Progress(done, all, name)
			}
		})
		if lacks := o.lacks(backend); err == nil && lacks != "" { // so the simulator decides
			runs, v.Device = nil, "the simulator: the code "+lacks
			o.untimed(lacks, s, measured)
		} else if err == nil && p.kind == o.Devices.Kind { // the device that decides on correctness
			err = o.speeds(ctx, s, runs, o.starter(ctx, ready, p, backend, spec), measured)
			if err == nil && p.kind == device.Sim {
				err = o.estimates(ctx, ready, spec, s, runs, measured)
			}
			if err == nil && o.Report && o.Only == "" {
				v.Reports, err = o.reports(ctx, ready, p, backend, spec, s, runs)
			}
		}
		giveBack()
		for _, e := range backend.Expanded() {
			if library != nil && e.Folder == o.Task.Dir {
				lines := handedIn(ready.files, e)
				v.Copies = noteCopies(v.Copies, library.FindExpanded(e.Folder, lines))
				v.Like = noteLike(v.Like, e.Folder, published.FindExpanded(e.Folder, lines))
			}
		}
		if closed := backend.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
		for i := range runs {
			m := &measured[i]
			if m.Runs == nil {
				m.Runs = runs[i] // the first device decides on correctness
			}
			m.NoSim = o.Devices.NoSim
			if p.kind != device.CUDA { // or the worker itself counted
				m.Sim = runs[i]
			}
		}
	}
	var checks []verdict.Check
	var found []verdict.Found
	for i, m := range measured {
		warnings = append(warnings, disagreement(s.Checks[i].ID, m)...)
		m.Known = found
		if op, err := o.Ops.Find(s.Checks[i].Op); err == nil {
			m.Against = op.Against
		}
		c := score.Score(o.Task, s.Checks[i], m)
		found = append(found, c.Findings...)
		for i, f := range c.Findings {
			if f.Case != "" && f.Thread != nil {
				c.Findings[i].Again = o.againAt(c.ID+"/"+f.Case, trace.Show{Thread: f.Thread, Block: f.Block})
			}
		}
		checks = append(checks, c)
	}
	v.Checks, v.Warnings = checks, warnings
	return nil
}

// disagreement names cases that came out right on the GPU and wrong in the
// simulator, or the other way round.
func disagreement(check string, m score.Measured) []string {
	var names []string
	for i, r := range m.Runs {
		if i < len(m.Sim) && m.Sim[i].Result.NotRun == "" && m.Sim[i].Case.Passed != r.Case.Passed {
			name := check + "/" + r.Case.Name
			if r.Case.Hidden {
				name = "a hidden case of " + check
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("right on one of GPU and simulator, and wrong on the other (does it depend on the order in which threads run?): %s", strings.Join(names, ", "))}
}
