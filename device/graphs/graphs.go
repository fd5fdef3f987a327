// Package graphs records graphs for devices that have none of their own: it
// keeps the steps, and a launch of the graph does them one by one.
package graphs

import (
	"sync"

	"flashlab/device"
)

// Recorder is a device's part in recording. The zero value is ready. The device
// passes what can be part of a graph through Do, and asks Refuse before the rest.
type Recorder struct {
	mu  sync.Mutex
	now *recording // nil while nothing is recorded
}

type recording struct {
	steps   []func() error
	refused error // the first call that was
}

// Do does a step, or keeps it for later while a graph is recorded.
func (r *Recorder) Do(step func() error) error {
	r.mu.Lock()
	if r.now != nil {
		r.now.steps = append(r.now.steps, step)
		r.mu.Unlock()
		return nil
	}
	r.mu.Unlock()
	return step()
}

// Refuse is an error while a graph is recorded, which then fails as a whole:
// work that ignores it would leave a graph with a piece missing.
func (r *Recorder) Refuse(call string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		return nil
	}
	err := device.NotRecordable(call)
	if r.now.refused == nil {
		r.now.refused = err
	}
	return err
}

// Record is device.Device's; q is the device's queue.
func (r *Recorder) Record(q device.Queue, work func(q device.Queue) error) (device.Graph, error) {
	steps, err := r.record(q, work)
	if err != nil {
		return nil, err
	}
	return &graph{recorder: r, queue: q, steps: steps}, nil
}

func (r *Recorder) record(q device.Queue, work func(q device.Queue) error) ([]func() error, error) {
	if err := r.Refuse("record a graph"); err != nil {
		return nil, err
	}
	made := &recording{}
	r.set(made)
	err := func() error {
		defer r.set(nil) // also where work panics
		return work(q)
	}()
	switch {
	case err != nil:
		return nil, err
	case made.refused != nil:
		return nil, made.refused
	case len(made.steps) == 0:
		return nil, device.ErrGraphEmpty
	}
	return made.steps, nil
}

func (r *Recorder) set(now *recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = now
}

type graph struct {
	recorder *Recorder
	queue    device.Queue
	steps    []func() error // nil once closed
}

func (g *graph) Launch() error {
	if g.steps == nil {
		return device.ErrGraphClosed
	}
	if err := g.recorder.Refuse("launch a graph"); err != nil {
		return err
	}
	for _, step := range g.steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (g *graph) Update(work func(q device.Queue) error) error {
	if g.steps == nil {
		return device.ErrGraphClosed
	}
	steps, err := g.recorder.record(g.queue, work)
	if err != nil {
		return err
	}
	g.steps = steps
	return nil
}

func (g *graph) Close() error {
	g.steps = nil
	return nil
}
