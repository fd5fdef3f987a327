// Package batch grades a class: every attempt that package intake finds, several at a time,
// into one record each. What a record already holds is not graded again, so a batch that was
// interrupted or killed continues where it was when it is restarted.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"flashlab/device"
	"flashlab/device/nvcc"
	"flashlab/grader/class/course"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// Options say what to grade, and on what.
type Options struct {
	Ops     judge.Ops // that checks may name
	Root    string
	Out     string // the batch's folder
	Work    string // for what is needed for a while, and removed; a folder in Out without it
	Course  *course.Course
	Tasks   []*rubric.Task  // all that the tree has
	Only    []registry.Name // grade these; those that are on without it
	Regrade bool            // even what is graded
	Devices run.Devices
	Jobs    int    // submissions at a time
	Release string // names the tree in every record
	Tree    Tree   // hashes of it, task by task: FingerprintOf
	Watch   Watcher
	// Grade grades one task; grade.Task without it.
	Grade func(context.Context, run.Options) (verdict.Verdict, error)
	// Settings are saved once the folder is ours.
	Settings Settings
}

// Watcher is told about a batch's progress, by several goroutines at once.
type Watcher interface {
	Begin(submissions int)
	// Step: a task of a submission was begun, or a case of it is done.
	Step(i intake.Item, task registry.Name, done, all int)
	// Done: a submission is graded, or needed no grading (fresh is how many tasks
	// were graded now). r is nil where the grader itself failed.
	Done(i intake.Item, r *record.Record, fresh int, err error)
}

// Summary counts what a batch did.
type Summary struct {
	Submissions int
	Graded      int // tasks graded now
	Kept        int // tasks that were graded before
	Trouble     int // submissions that could not be read
	Failed      []string
}

// batch is a running one.
type batch struct {
	Options
	gpus  *run.GPUs
	mu    sync.Mutex
	sum   Summary
	abort context.CancelCauseFunc
}

// Run grades the items while holding the folder's lock. The error context.Canceled
// means that it was interrupted; everything that was done is kept.
func Run(ctx context.Context, o Options, items []intake.Item) (Summary, error) {
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return Summary{}, err
	}
	lock, err := Lock(o.Out)
	if err != nil {
		return Summary{}, err
	}
	defer lock.Close()
	if err := sweep(o.Out); err != nil {
		return Summary{}, err
	}
	if err := o.Settings.Save(o.Out); err != nil {
		return Summary{}, err
	}
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	o.Work = cmp.Or(o.Work, filepath.Join(o.Out, work))
	if o.Grade == nil {
		o.Grade = run.Task
	}
	b := &batch{Options: o, gpus: run.NewGPUs(o.Devices.Cards), abort: abort, sum: Summary{Submissions: len(items)}}
	o.Watch.Begin(len(items))
	queue := make(chan intake.Item)
	var working sync.WaitGroup
	for range max(1, o.Jobs) {
		working.Go(func() {
			for i := range queue {
				b.item(ctx, i)
			}
		})
	}
feed:
	for _, i := range items {
		select {
		case queue <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	working.Wait()
	slices.Sort(b.sum.Failed)
	_ = os.RemoveAll(o.Work)
	return b.sum, context.Cause(ctx)
}

// item grades one attempt. Whatever goes wrong affects only this one.
func (b *batch) item(ctx context.Context, i intake.Item) {
	r, fresh, err := b.guarded(ctx, i)
	if ctx.Err() != nil {
		return
	}
	b.mu.Lock()
	b.sum.Graded += fresh
	if r != nil {
		b.sum.Kept += max(0, len(r.Tasks)-fresh)
		if r.Trouble != "" {
			b.sum.Trouble++
		}
		for _, t := range r.Tasks {
			if t.Failed != "" && err == nil {
				err = fmt.Errorf("task %s: %s", t.Name, t.Failed)
			}
		}
	}
	if err != nil {
		b.sum.Failed = append(b.sum.Failed, fmt.Sprintf("%s: %v", i.File, err))
	}
	b.mu.Unlock()
	b.Watch.Done(i, r, fresh, err)
}

// guarded keeps a bug of ours that one submission triggers from ending the batch.
func (b *batch) guarded(ctx context.Context, i intake.Item) (r *record.Record, fresh int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	return b.attempt(ctx, i)
}

// graded tells whether a task is to be graded in this run.
func (b *batch) graded(t *rubric.Task) bool {
	if len(b.Only) > 0 {
		return slices.Contains(b.Only, t.Name)
	}
	return b.Course.Graded(t.Name)
}

// healthy ends the batch if the GPU is gone: anything that followed would look like the
// students' fault.
func (b *batch) healthy() {
	if b.Devices.Kind != device.CUDA {
		return
	}
	gpus, err := nvcc.GPUs()
	if err == nil && len(gpus) == 0 {
		err = errors.New("none is there any more")
	}
	if err != nil {
		b.abort(fmt.Errorf("the GPU does not answer (%w): see to it, and start the batch again; it goes on where it was", err))
	}
}
