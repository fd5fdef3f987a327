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
	o     Options
	files []gate.File
	dir   string
}

// prepare reads the subject through the gate. A submission that the gate refuses is a *gate.Error.
func (o Options) prepare() (*prepared, error) {
	if missing := o.Task.MissingFiles(o.Root); len(missing) > 0 {
		return nil, fmt.Errorf("%s names %s, which the tree lacks", filepath.Join(o.Task.Dir, "rubric.toml"), missing[0])
	}
	files, err := o.files()
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
	return &prepared{o, files, dir}, nil
}

// close removes what was built.
func (s *prepared) close() { _ = os.RemoveAll(s.dir) }

// build builds the task's worker around the files, in the sandbox if there is one. A submission
// that does not build is a *build.Error.
func (s *prepared) build(ctx context.Context, p pass) (build.Result, error) {
	return s.worker(ctx, p, s.o.Task, s.files, s.dir)
}

// wider builds another task's worker around other files, below the same folder.
func (s *prepared) wider(ctx context.Context, p pass, t *rubric.Task, files []gate.File) (build.Result, error) {
	dir := filepath.Join(s.dir, t.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return build.Result{}, err
	}
	return s.worker(ctx, p, t, files, dir)
}

func (s *prepared) worker(ctx context.Context, p pass, t *rubric.Task, files []gate.File, dir string) (build.Result, error) {
	return build.Worker(ctx, build.Request{Root: s.o.Root, Task: t, Files: files, Dir: dir, Tags: p.tags, Env: p.buildEnv, Jail: s.o.Devices.Jail})
}

// spec is how the built worker is started.
func (s *prepared) spec(p pass, built build.Result) supervise.Spec {
	limits := s.o.Task.Limits
	return supervise.Spec{Binary: built.Binary, Env: p.runEnv, Read: p.read, Output: limits.Output, Memory: limits.MemoryBytes(), Jail: s.o.Devices.Jail}
}

// Open builds the subject's worker for the first device, and makes it ready to run. Each
// of its turns may take limit. closed releases everything.
func Open(ctx context.Context, o Options, limit time.Duration) (r *supervise.Runner, closed func(), err error) {
	s, err := o.prepare()
	if err != nil {
		return nil, nil, notRun(err)
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	p := o.Devices.passes()[0]
	built, err := s.build(ctx, p)
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
	r = &supervise.Runner{Spec: s.spec(p, built), Backend: backend, Limit: limits.CaseTime()}
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
