// Package tint proves by data that a layer's attention is that of the kernels it is given. What they
// return is multiplied by factors that are drawn for each case, and the grader's own computation does the
// same. A layer that ignores what the kernels return is wrong, whatever it calls; one that asks them for the
// factors, and computes attention in Go, is held for what it copies.
package tint

import (
	"errors"
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn/llama"
)

// Factors has a case's, one for each of a head's dim numbers: 1.5 on average, so that next to none is 1.
// Its stream is behind those of any model's weights.
func Factors(dim int) llama.Weight {
	return llama.Weight{Name: "factors", Rows: 1, Columns: dim, Base: 1.5, Scale: 0.25, Stream: 1 << 20}
}

// ErrCompile is what a layer hears that has kernels of its own compiled.
var ErrCompile = errors.New("a layer compiles nothing: attention is k.Prefill's and k.Decode's, the projections are p's")

// queue takes all work but kernels.
type queue struct{ device.Queue }

// Queue is what a layer gets in place of q: it has nothing compiled there.
func Queue(q device.Queue) device.Queue { return queue{q} }

func (queue) Compile(device.Source) (device.Module, error) { return nil, ErrCompile }

const block = 128

// Tint multiplies by a case's factors.
type Tint struct {
	queue   device.Queue
	kernel  device.Kernel
	factors device.Buffer[float32]
}

// New has fill write the factors, which this process need not know, to the device.
func New(q device.Queue, dim int, fill llama.Filler) (*Tint, error) {
	m, err := q.Compile(device.Source{Folder: "grader/tasks/task6/tint", Name: "tint.cu"})
	if err != nil {
		return nil, fmt.Errorf("the grader's own kernel: %w", err)
	}
	t := &Tint{queue: q}
	if t.kernel, err = m.Kernel("tint"); err != nil {
		return nil, err
	}
	if t.factors, err = device.Alloc[float32](q, "factors", dim); err != nil {
		return nil, err
	}
	if err := fill(t.factors, Factors(dim)); err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

// Close gives the factors' memory back.
func (t *Tint) Close() error { return t.factors.Free(t.queue) }

// Kernels are the same kernels, their attention tinted. Nothing but the methods of these interfaces can be
// reached through them.
func (t *Tint) Kernels(k attn.Kernels) attn.Kernels {
	return attn.Kernels{Prefill: prefill{k.Prefill, t}, Decode: decoder{k.Decode, t}, Rearranger: rearranger{k.Rearranger}}
}

// apply tints the first n numbers of a result.
func (t *Tint) apply(out device.Buffer[float32], n int) error {
	return t.queue.Launch(t.kernel, device.Launch{Grid: device.D1((n + block - 1) / block), Block: device.D1(block)},
		out, t.factors, n, t.factors.Len())
}

type prefill struct {
	kernel attn.Kernel
	tint   *Tint
}

func (p prefill) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	if err := p.kernel.Run(out, q, k, v, s); err != nil {
		return err
	}
	return p.tint.apply(out, s.Batch*s.Heads*s.SeqQ*s.Dim)
}

type decoder struct {
	kernels attn.Decoder
	tint    *Tint
}

func (d decoder) Update(c attn.Cache, k, v device.Buffer[float32], count int, at attn.PerSequence) error {
	return d.kernels.Update(c, k, v, count, at)
}

func (d decoder) Decode(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := d.kernels.Decode(out, q, c, s, lengths); err != nil {
		return err
	}
	return d.tint.apply(out, s.Batch*s.Heads*s.Dim)
}

// rearranger hides what else the given one can do.
type rearranger struct{ attn.Rearranger }
