package main

import (
	"fmt"
	"math"
	"slices"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/task5/sizes"
)

// Generate writes a prompt to an empty cache, in one piece, and decodes token by
// token. The first half of the steps is called; the second is one recorded step,
// launched again and again while the numbers on the device grow.
func Generate[T attn.Decoder](m *worker.Made[T]) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		g, free, err := newGeneration(j)
		defer free()
		if err != nil {
			return nil, err
		}
		return worker.OnDevice(m, func(it T, c problem.Problem, out, in worker.Buffers) error {
			return g.run(it, out[0], in)
		})(j)
	}
}

// generation is what the steps work on: always the same buffers, as in a recorded
// graph.
type generation struct {
	*worker.Job
	s           attn.DecodeShape
	cache       attn.Cache
	at, lengths attn.PerSequence
	q, k, v, y  device.Buffer[float32] // of one step
}

func newGeneration(j *worker.Job) (g *generation, free func(), err error) {
	var mine []device.Memory
	free = func() {
		for _, m := range mine {
			_ = j.Device.Free(m)
		}
	}
	s := sizes.Generate(j.Problem)
	g = &generation{Job: j, s: s, cache: attn.Cache{CacheShape: s.CacheShape}}
	for _, b := range []struct {
		name string
		n    int
		at   *device.Buffer[float32]
	}{
		{"cache.K", s.Elements(), &g.cache.K}, {"cache.V", s.Elements(), &g.cache.V},
		{"k", s.Batch * s.Slot(), &g.k}, {"v", s.Batch * s.Slot(), &g.v},
		{"q", s.Batch * s.Heads * s.Dim, &g.q}, {"out", s.Batch * s.Heads * s.Dim, &g.y},
	} {
		if *b.at, err = device.Alloc[float32](j.Device, b.name, b.n); err != nil {
			return g, free, err
		}
		mine = append(mine, b.at.Memory())
		if err := b.at.CopyIn(j.Device, stale(b.n)); err != nil {
			return g, free, err
		}
	}
	for _, n := range []struct {
		name string
		at   *attn.PerSequence
	}{{"at", &g.at}, {"lengths", &g.lengths}} {
		if *n.at, err = worker.PerSequence(j.Device, n.name, make([]int, s.Batch)); err != nil {
			return g, free, err
		}
		mine = append(mine, n.at.Device.Memory())
	}
	return g, free, j.Device.Set(g.y.Memory(), 0xFF)
}

// stale is what slots hold that no token has taken: NaN, with other bits than memory
// that was never written.
func stale(n int) []float32 { return slices.Repeat([]float32{float32(math.NaN())}, n) }

// run has in = prompt's k and v, then q, k and v of all steps.
func (g *generation) run(it attn.Decoder, out device.Buffer[float32], in worker.Buffers) error {
	prompt, steps := g.Sizes["prompt"], g.Sizes["steps"]
	if err := g.set(g.at, 0); err != nil {
		return err
	}
	if err := it.Update(g.cache, in[0], in[1], prompt, g.at); err != nil {
		return fmt.Errorf("the prompt: %w", worker.StubIn("decode.go", "Update", err))
	}
	step := func() error {
		if err := it.Update(g.cache, g.k, g.v, 1, g.at); err != nil {
			return worker.StubIn("decode.go", "Update", err)
		}
		return worker.StubIn("decode.go", "Decode", it.Decode(g.y, g.q, g.cache, g.s, g.lengths))
	}
	var graph device.Graph
	for t := range steps {
		if err := g.load(t, prompt); err != nil {
			return err
		}
		var err error
		switch {
		case t < sizes.Replayed(g.Problem):
			err = step()
		case graph == nil:
			graph, err = g.Device.Record(func(device.Queue) error { return step() })
			if err != nil {
				return fmt.Errorf("recording a step: %w", err)
			}
			defer func() { _ = graph.Close() }()
			fallthrough
		default:
			err = graph.Launch()
		}
		if err == nil {
			err = g.keep(out, t)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", t, err)
		}
	}
	return nil
}

// load prepares step t: its inputs, and the numbers that have grown.
func (g *generation) load(t, prompt int) error {
	for i, b := range []device.Buffer[float32]{g.q, g.k, g.v} {
		if err := g.Fill(b, remote.Of(2+i, t*b.Len())); err != nil {
			return err
		}
	}
	if err := g.set(g.at, prompt+t); err != nil {
		return err
	}
	return g.set(g.lengths, prompt+t+1)
}

// set gives all sequences the same number.
func (g *generation) set(n attn.PerSequence, to int) error {
	for b := range n.Host {
		n.Host[b] = to
	}
	return n.Device.CopyIn(g.Device, worker.Int32s(n.Host))
}

// keep moves a step's result to its place among all of them, and poisons where the
// next one comes.
func (g *generation) keep(out device.Buffer[float32], t int) error {
	y, err := g.y.CopyOut(g.Device)
	if err != nil {
		return err
	}
	place, err := out.Slice(t*len(y), (t+1)*len(y))
	if err != nil {
		return err
	}
	if err := place.CopyIn(g.Device, y); err != nil {
		return err
	}
	return g.Device.Set(g.y.Memory(), 0xFF)
}
