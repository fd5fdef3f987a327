package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/supervise"
)

// Open builds the subject's worker for the first device, and makes it ready to run. A
// turn of it may take limit. Close gives everything back.
func Open(ctx context.Context, o Options, limit time.Duration) (r *supervise.Runner, closed func(), err error) {
	files, err := o.files()
	var refused *gate.Error
	if errors.As(err, &refused) {
		return nil, nil, fmt.Errorf("the submission was not run:\n%w", refused)
	}
	if err != nil {
		return nil, nil, err
	}
	dir, err := o.buildDir()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	p := o.Devices.passes()[0]
	res, err := build.Worker(ctx, build.Request{Root: o.Root, Task: o.Task, Files: files, Dir: dir, Tags: p.tags, Env: p.buildEnv, Jail: o.Devices.Jail})
	if err != nil {
		return nil, nil, err
	}
	limits := o.Task.Limits
	limits.Case = max(limits.Case, int(limit/time.Second))
	backend, err := p.open(limits)
	if err != nil {
		return nil, nil, err
	}
	r = &supervise.Runner{Spec: supervise.Spec{Binary: res.Binary, Env: p.runEnv, Read: p.read, Output: limits.Output, Memory: limits.MemoryBytes(), Jail: o.Devices.Jail}, Backend: backend, Limit: limits.CaseTime()}
	return r, func() { _ = r.Close(); _ = backend.Close(); os.RemoveAll(dir) }, nil
}
