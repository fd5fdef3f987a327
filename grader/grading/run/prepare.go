package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
)

// prepared is a subject that has passed the gate, with a folder for what is built from it. Every
// program that runs comes from files through here: there is no other way.
type prepared struct {
	o       Options
	files   []gate.File
	kernels *build.Kernels
	dir     string
}

// prepare reads the subject through the gate. A submission that the gate refuses is a *gate.Error.
func (o Options) prepare() (*prepared, error) {
	if missing := o.Task.MissingFiles(o.Root); len(missing) > 0 {
		return nil, fmt.Errorf("%s is not there, which the task has or provides (%s names it): take it from the release's zip again, or from git", missing[0], filepath.Join(o.Task.Dir, "rubric.toml"))
	}
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	kernels, err := build.KernelsOf(o.Root, o.Task, files)
	if err != nil {
		return nil, err
	}
	builds, err := filepath.Abs(filepath.Join(o.Output, "build"))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(builds, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(builds, filepath.Base(o.Task.Dir)+"-*")
	if err != nil {
		return nil, err
	}
	return &prepared{o, files, kernels, dir}, nil
}

// close removes what was built.
func (s *prepared) close() { _ = os.RemoveAll(s.dir) }

// build builds the task's worker around the files, in the sandbox if there is one. A submission
// that does not build is a *build.Error.
func (s *prepared) build(ctx context.Context, p pass) (build.Result, error) {
	return build.Worker(ctx, s.request(p, s.o.Task, s.files, s.dir))
}

// alone builds the same as a program that is not graded: it runs by itself.
func (s *prepared) alone(ctx context.Context, p pass) (build.Result, error) {
	r := s.request(p, s.o.Task, s.files, s.dir)
	r.Alone = true
	return build.Worker(ctx, r)
}

// wider is the same subject with another task's worker around its own files and others, below the same folder.
func (s *prepared) wider(t *rubric.Task, files []gate.File) (*prepared, error) {
	w := &prepared{s.o, files, nil, filepath.Join(s.dir, t.Dir)}
	w.o.Task = t
	var err error
	if w.kernels, err = build.KernelsOf(s.o.Root, t, files); err != nil {
		return nil, err
	}
	return w, os.MkdirAll(w.dir, 0o755)
}

func (s *prepared) request(p pass, t *rubric.Task, files []gate.File, dir string) build.Request {
	return build.Request{Root: s.o.Root, Task: t, Files: files, Dir: dir, Tags: p.tags, Env: p.buildEnv, Jail: s.o.Devices.Jail}
}

// spec is how the built worker is started.
func (s *prepared) spec(p pass, built build.Result) supervise.Spec {
	limits := s.o.Task.Limits
	return supervise.Spec{Binary: built.Binary, Env: p.runEnv, Read: p.read, Output: limits.Output, Memory: limits.MemoryBytes(), Jail: s.o.Devices.Jail,
		Kernels: s.kernels.Find}
}

// timers are the kernels that a worker times with, and makes its inputs with on a GPU. Cases that are not timed have none of them.
var timers = []string{"grader/grading/worker/gauge.cu", "grader/grading/worker/tensors.cu", "nn/fill.cu"}

// timed is how the worker is started for cases that are timed.
func (s *prepared) timed(spec supervise.Spec) (supervise.Spec, error) {
	kernels, err := s.kernels.With(s.o.Root, timers...)
	if err != nil {
		return spec, err
	}
	spec.Kernels = kernels.Find
	return spec, nil
}

// Open builds the subject's worker for the first device, and makes it ready to run. Each
// of its turns may take limit. closed releases everything.
func Open(ctx context.Context, o Options, limit time.Duration) (r *supervise.Runner, closed func(), err error) {
	return open(ctx, o, o.Devices.passes()[0], limit)
}

func open(ctx context.Context, o Options, p pass, limit time.Duration) (r *supervise.Runner, closed func(), err error) {
	s, err := o.prepare()
	if err != nil {
		return nil, nil, notRun(err)
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	built, err := s.build(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	spec, err := s.timed(s.spec(p, built))
	if err != nil {
		return nil, nil, err
	}
	task := *o.Task
	limits := &task.Limits
	limits.Case = max(limits.Case, int(limit/time.Second))
	backend, err := p.open(&task, s.files)
	if err != nil {
		return nil, nil, err
	}
	r = &supervise.Runner{Spec: spec, Backend: backend, Limit: limits.CaseTime()}
	return r, func() { _ = r.Close(); _ = backend.Close(); s.close() }, nil
}

// notRun says of a refusal that nothing ran.
func notRun(err error) error {
	var refused *gate.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("the submission was not run:\n%w", refused)
	}
	return err
}
