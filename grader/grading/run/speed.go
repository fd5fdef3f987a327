package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/tasks/registry"
)

// TurnTime is what one timed run may take, with its inputs: a textbook kernel takes
// seconds for the largest workload.
const TurnTime = 60 * time.Second

// The runs of a check's workload: their number is fixed here, and nobody in the worker
// knows it.
const (
	speedRuns = 11
	speedWarm = 2
)

// timer measures: it is package race, or a test in its place.
type timer interface {
	Test(ctx context.Context, r *supervise.Runner, op string, o race.Options) (race.SelfTest, error)
	Measure(ctx context.Context, r *supervise.Runner, w race.Workload, o race.Options) (race.Row, error)
}

type raceTimer struct{}

func (raceTimer) Test(ctx context.Context, r *supervise.Runner, op string, o race.Options) (race.SelfTest, error) {
	return race.Test(ctx, r, op, o)
}

func (raceTimer) Measure(ctx context.Context, r *supervise.Runner, w race.Workload, o race.Options) (race.Row, error) {
	return race.Measure(ctx, r, w, o)
}

// starter is where code is timed: a runner of some task's worker.
type starter func(task registry.Name) (*supervise.Runner, error)

// speeds times the workload of each check that has points for it, where there is a GPU.
func (o Options) speeds(ctx context.Context, s plan, runs [][]score.Run, starter starter, measured []score.Measured) (err error) {
	t := o.timer
	if t == nil {
		t = raceTimer{}
	}
	for i, c := range s.Checks {
		if o.Task.Split(c).Speed == 0 {
			continue
		}
		to := &measured[i].Speed
		switch {
		case o.Devices.Kind != device.CUDA && o.timer == nil:
			to.Not, to.NeedsGPU = "needs a GPU", true
		case strings.Contains(o.Only, "/"):
			to.Not = "one case alone is not timed"
		case !anyRight(runs[i]):
			to.Wrong = "not timed: no case is right"
		default:
			if o.Progress != nil {
				o.Progress(i, len(s.Checks), "timing "+c.ID)
			}
			if *to, err = o.speed(ctx, t, starter, c); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// lacks says which GPU the code takes, where there is an older one, and a simulator beside it.
func (o Options) lacks(b supervise.Backend) string {
	gpu, is := b.(interface{ Lacks() string })
	if !is || o.Devices.NoSim != "" {
		return ""
	}
	return gpu.Lacks()
}

// untimed says of each check with points for speed why there is no time.
func (o Options) untimed(why string, s plan, measured []score.Measured) {
	for i, c := range s.Checks {
		if o.Task.Split(c).Speed != 0 {
			measured[i].Speed.Not = why
		}
	}
}

func (o Options) timing() race.Options {
	return race.Options{Ops: o.Ops, Runs: speedRuns, Warm: speedWarm, Pieces: 8, Seed: o.Seed}
}

func anyRight(runs []score.Run) bool {
	for _, r := range runs {
		if r.Case.Passed && !r.Case.Refused {
			return true
		}
	}
	return false
}

// speed times one check's workload, and the machine before it.
func (o Options) speed(ctx context.Context, t timer, starter starter, c rubric.Check) (s score.Speed, err error) {
	r, err := starter(c.Worker)
	var refused *gate.Error
	var broken *build.Error
	if errors.As(err, &refused) || errors.As(err, &broken) {
		s.Wrong = fmt.Sprintf("not timed: it runs on your kernels of other tasks, too, which are missing or do not build (make grade TASK=%s says more)", c.Worker)
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer func() {
		if closed := r.Close(); err == nil {
			err = closed
		}
	}()
	test, err := t.Test(ctx, r, c.Ladder[0].OpOf(c), o.timing())
	switch {
	case err != nil:
		return s, err
	case test.Not != "":
		s.Not = test.Not
		return s, nil
	case test.Noisy != "":
		s.Not = "too noisy: " + test.Noisy
		return s, nil
	}
	w, err := o.fitting(c.ID, c.Op, c.Ladder, test.Free)
	if err != nil {
		s.Not = err.Error()
		return s, nil
	}
	row, err := t.Measure(ctx, r, w, o.timing())
	if err != nil {
		return s, err
	}
	return speedOf(row), nil
}

// starter opens workers on a backend: the task's own, or one of a task that holds it and
// others, built around the same subject.
func (o Options) starter(ctx context.Context, ready *prepared, p pass, b supervise.Backend, own supervise.Spec) starter {
	return func(task registry.Name) (*supervise.Runner, error) {
		holds, spec := ready, own
		if task != "" {
			var err error
			if holds, err = o.wider(task, ready); err != nil {
				return nil, err
			}
			built, err := holds.build(ctx, p)
			if err != nil {
				return nil, err
			}
			spec.Binary = built.Binary
		}
		spec, err := holds.timed(spec)
		if err != nil {
			return nil, err
		}
		return &supervise.Runner{Spec: spec, Backend: b, Limit: TurnTime}, nil
	}
}

// wider builds the worker of another task around the subject, with the files of this
// task as they were read: a mutant's are edited.
func (o Options) wider(name registry.Name, ready *prepared) (*prepared, error) {
	all, err := rubric.LoadAll(o.Root)
	if err != nil {
		return nil, err
	}
	found, err := rubric.Find(all, string(name))
	if err != nil {
		return nil, err
	}
	other := o
	other.Task = found[0]
	switch {
	case o.Subject.Author:
		other.Subject = HandedIn(other.Task, strings.TrimSuffix(o.Subject.Dirs[0], filepath.FromSlash(o.Task.Dir)))
	case o.Subject.Solution:
		other.Subject = Solution(o.Root, other.Task)
	default:
		other.Subject = Submission(o.Root, other.Task, o.Subject.Submission)
	}
	theirs, err := other.files()
	if err != nil {
		return nil, err
	}
	for i, f := range theirs {
		for _, mine := range ready.files {
			if f.Task == mine.Task && f.Name == mine.Name {
				theirs[i] = mine
			}
		}
	}
	return ready.wider(other.Task, theirs)
}

// speedOf is what a measured row says of the code and its baseline.
func speedOf(row race.Row) score.Speed {
	s := score.Speed{Workload: row.Name}
	if row.Left != "" || len(row.Entries) < 2 {
		s.Not = row.Left
		if s.Not == "" {
			s.Not = "there is no baseline to compare with"
		}
		return s
	}
	ours, theirs := row.Entries[0], row.Entries[1]
	s.Baseline, s.Wrong, s.Held = theirs.Name, ours.Wrong, ours.Held
	switch {
	case ours.Wrong != "":
	case row.OwnKernel && theirs.Wrong != "" && !strings.Contains(theirs.Wrong, attn.ErrNotImplemented.Error()):
		s.Wrong = "your kernel of another task, which it is compared with, is wrong on this workload: " + theirs.Wrong
	case theirs.Wrong != "":
		s.Not = "the baseline is wrong here: " + theirs.Wrong
	case theirs.Held != "":
		s.Not = "the baseline's time is not believed: " + theirs.Held
	case ours.Not != "" || theirs.Not != "":
		s.Not = ours.Not
		if s.Not == "" {
			s.Not = theirs.Not
		}
	}
	s.Ours, s.Theirs = time.Duration(ours.Stats.Median), time.Duration(theirs.Stats.Median)
	s.Ratio = row.Ratio(theirs)
	return s
}

// fitting is the first rung of a ladder that fits.
func (o Options) fitting(id, op string, ladder []rubric.Rung, free int64) (race.Workload, error) {
	for _, rung := range ladder {
		w := race.Workload{ID: id, Task: o.Task.Name, Op: cmp.Or(rung.Op, op), Shape: rung.Shape, Causal: rung.Causal}
		op, wc, err := w.Case(o.Ops, false)
		if err != nil {
			return w, err
		}
		w.Name = sizesOf(op, rung)
		if race.Fits(op, wc, free) {
			return w, nil
		}
	}
	return race.Workload{}, fmt.Errorf("the GPU has %d MB free, too little for any workload", free>>20)
}

// sizesOf names a rung: "flash of batch 64, heads 32, …".
func sizesOf(op judge.Op, r rubric.Rung) string {
	name := op.Name
	for i, size := range op.Sizes {
		sep := ", "
		if i == 0 {
			sep = " of "
		}
		name += fmt.Sprintf("%s%s %d", sep, size, r.Shape[i])
	}
	if r.Causal {
		name += ", causal"
	}
	return name
}
