package main

import (
	"errors"
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/task6/sizes"
	"flashlab/grader/tasks/task6/tint"
	"flashlab/nn/llama"
	"flashlab/tensor"
)

// layerRun is a case of one layer: x comes in piece by piece, out is put
// together.
type layerRun struct {
	*worker.Job
	*tally
	batch, prompt, steps, hidden int
	layer                        attn.Layer
	tint                         *tint.Tint
	memory                       []device.Memory // to give back
	before, after                attn.PerSequence
	x, y                         device.Buffer[float32] // of the largest pass
	out                          []float32              // [batch, prompt + steps, hidden]
}

// layerOp makes a student's layer and has run let it work.
func layerOp(g *worker.Made[given], newLayer attn.NewLayer, run func(r *layerRun) error) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		kernels, err := g.Get(j.Queue)
		if err != nil {
			return nil, err
		}
		s := j.Sizes
		r := &layerRun{Job: j, tally: newTally(), batch: s["batch"], prompt: s["prompt"], steps: s["steps"], hidden: s["hidden"],
			out: make([]float32, tensor.Elements(j.Inputs[0].Shape))}
		defer r.free()
		if err := r.make(kernels, newLayer); err != nil {
			return nil, worker.Stub("New", err)
		}
		if err := run(r); err != nil {
			return nil, worker.Stub("Forward", err)
		}
		out, err := tensor.Of(r.out, j.Outputs[0].Shape...)
		return &problem.Answer{Tensors: []*tensor.Tensor{out}, Counts: r.calls}, err
	}
}

func (r *layerRun) free() {
	r.queue.free()
	if r.tint != nil {
		_ = r.tint.Close()
	}
	for _, m := range r.memory {
		_ = r.Device.Free(m)
	}
}

func (r *layerRun) alloc(name string, n int) (b device.Buffer[float32], err error) {
	if b, err = device.Alloc[float32](r.Device, name, n); err == nil {
		r.memory = append(r.memory, b.Memory())
		err = r.Device.Poison(b.Memory())
	}
	return b, err
}

// make puts weights and a cache on the device, and makes the layer.
func (r *layerRun) make(g given, newLayer attn.NewLayer) (err error) {
	s := r.Sizes
	p := &llama.Projections{Layers: g.layers, Hidden: r.hidden, Heads: s["heads"], Dim: s["dim"]}
	if p.Dim%2 == 0 {
		p.Rotary = llama.Base
	}
	for i, w := range []*device.Buffer[float32]{&p.Q, &p.K, &p.V, &p.O} {
		if *w, err = r.projection(1 + i); err != nil {
			return err
		}
	}
	c := attn.Cache{CacheShape: attn.CacheShape{Batch: r.batch, MaxSeq: sizes.LayerSlots(r.Problem), KVHeads: p.Heads, Dim: p.Dim}}
	rows := r.batch * r.prompt
	for _, b := range []struct {
		to   *device.Buffer[float32]
		name string
		n    int
	}{{&c.K, "cache.k", c.Elements()}, {&c.V, "cache.v", c.Elements()}, {&r.x, "x", rows * r.hidden}, {&r.y, "out", rows * r.hidden}} {
		if *b.to, err = r.alloc(b.name, b.n); err != nil {
			return err
		}
	}
	for _, n := range []*attn.PerSequence{&r.before, &r.after} {
		n.Host = make([]int, r.batch)
		if n.Device, err = device.Alloc[int32](r.Device, "counts", r.batch); err != nil {
			return err
		}
		r.memory = append(r.memory, n.Device.Memory())
	}
	tinted, err := r.tinted(g.kernels)
	if err != nil {
		return err
	}
	shape := attn.LayerShape{Heads: p.Heads, CacheShape: c.CacheShape, MaxRows: rows}
	r.layer, err = r.watch(newLayer)(r.Queue, shape, p, tinted, c)
	return err
}

// tinted are kernels whose results have the case's factors in them.
func (r *layerRun) tinted(k attn.Kernels) (attn.Kernels, error) {
	t, err := tint.New(r.Queue, r.Sizes["dim"], weights(r.Job))
	if err != nil {
		return k, err
	}
	r.tint = t
	return t.Kernels(k), nil
}

// projection is a weight as the layer gets it.
func (r *layerRun) projection(input int) (b device.Buffer[float32], err error) {
	w := r.Inputs[input]
	if b, err = r.alloc(w.Name, tensor.Elements(w.Shape)); err != nil {
		return b, err
	}
	return b, r.Fill(b, remote.Values{Input: input, Scale: sizes.ProjectionScale(w.Shape[1])})
}

// pass is count tokens of each sequence, from token from of the case on.
type pass struct {
	from, count int
	before      []int
}

func (p pass) String() string {
	switch {
	case p.count > 1:
		return fmt.Sprintf("a prompt of %d tokens", p.count)
	case p.before[0] == 0:
		return "a prompt of 1 token"
	}
	return fmt.Sprintf("a decoded token with %d before it", p.before[0])
}

// passes are a prompt and the steps that go on from what is kept of it.
func (r *layerRun) passes() []pass {
	all := []pass{{count: r.prompt, before: make([]int, r.batch)}}
	for i := range r.steps {
		before := make([]int, r.batch)
		for b := range before {
			before[b] = r.prompt + i
			if r.Op == "ragged" {
				before[b] = sizes.Kept(r.Problem, b) + i
			}
		}
		all = append(all, pass{from: r.prompt + i, count: 1, before: before})
	}
	return all
}

// runSteps calls Forward for all passes.
func runSteps(r *layerRun) error {
	for _, p := range r.passes() {
		if err := r.do(p, r.layer.Forward); err != nil {
			return during(fmt.Sprintf("Forward of %v", p), err)
		}
	}
	return nil
}

// during says in which pass an error occurred. A stub has one in all of them.
func during(what string, err error) error {
	if errors.Is(err, attn.ErrNotImplemented) {
		return attn.ErrNotImplemented
	}
	return fmt.Errorf("%s: %w", what, err)
}

// do prepares a pass, has work queue it, and fetches its result.
func (r *layerRun) do(p pass, work func(out, x device.Buffer[float32], s attn.Step) error) error {
	n := r.batch * p.count * r.hidden
	x, err := r.x.Slice(0, n)
	if err != nil {
		return err
	}
	out, err := r.y.Slice(0, n)
	if err != nil {
		return err
	}
	if err := r.rows(x, p, r.Fill); err != nil {
		return err
	}
	if err := r.Device.Poison(out.Memory()); err != nil {
		return err
	}
	s := attn.Step{Batch: r.batch, Count: p.count, Before: r.before, After: r.after}
	for b, n := range p.before {
		s.Before.Host[b], s.After.Host[b] = n, n+p.count
	}
	for _, c := range []attn.PerSequence{s.Before, s.After} {
		if err := c.Device.CopyIn(r.Device, worker.Int32s(c.Host)); err != nil {
			return err
		}
	}
	if err := work(out, x, s); err != nil {
		return err
	}
	if err := r.Device.Sync(); err != nil {
		return err
	}
	kept := func(b device.Buffer[float32], v remote.Values) error { return r.Kept(b.Memory(), v) }
	if err := r.rows(x, p, kept); err != nil {
		return err
	}
	got, err := out.CopyOut(r.Device)
	if err != nil {
		return err
	}
	r.put(got, p)
	return nil
}

// rows visits a pass's rows of all sequences, and says where the case has them.
func (r *layerRun) rows(x device.Buffer[float32], p pass, visit func(device.Buffer[float32], remote.Values) error) error {
	size := p.count * r.hidden
	for b := range r.batch {
		part, err := x.Slice(b*size, (b+1)*size)
		if err == nil {
			err = visit(part, remote.Of(0, (b*(r.prompt+r.steps)+p.from)*r.hidden))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *layerRun) put(rows []float32, p pass) {
	size := p.count * r.hidden
	for b := range r.batch {
		at := (b*(r.prompt+r.steps) + p.from) * r.hidden
		copy(r.out[at:at+size], rows[b*size:(b+1)*size])
	}
}
