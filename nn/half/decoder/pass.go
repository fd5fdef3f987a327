package decoder

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/half"
)

// activations are the parts of the model's buffers that so many rows take.
type activations struct{ x, h, y, qkv, mixed, both, inner Halves }

func (m *Model) activations(rows int) (a activations, err error) {
	for _, p := range []struct {
		to    *Halves
		of    Halves
		width int
	}{{&a.x, m.x, m.Hidden}, {&a.h, m.h, m.Hidden}, {&a.y, m.y, m.Hidden}, {&a.qkv, m.qkv, m.All()}, {&a.mixed, m.mixed, m.Width()},
		{&a.both, m.both, 2 * m.MLP}, {&a.inner, m.inner, m.MLP}} {
		if *p.to, err = p.of.Slice(0, rows*p.width); err != nil {
			return a, err
		}
	}
	return a, nil
}

// of are the sequences first … first + batch − 1.
func of(all attn.PerSequence, first, batch int) (attn.PerSequence, error) {
	part, err := all.Device.Slice(first, first+batch)
	return attn.PerSequence{Host: all.Host[first : first+batch], Device: part}, err
}

// pass queues the layers for count new tokens of some sequences, and leaves the norm of their last ones
// in end. It allocates and copies nothing.
func (m *Model) pass(tokens nn.Ints, first, batch, count int) error {
	rows := batch * count
	a, err := m.activations(rows)
	if err != nil {
		return err
	}
	s := Step{First: first}
	if s.Seen, err = of(m.seen, first, batch); err != nil {
		return err
	}
	if s.After, err = of(m.after, first, batch); err != nil {
		return err
	}
	s.Positions = half.Positions{Batch: batch, Count: count, Before: s.Seen.Device, Turns: m.turns}
	if err := m.half.Embed(a.x, tokens, m.weights.Embedding, rows, m.Hidden); err != nil {
		return err
	}
	for i := range m.weights.Blocks {
		if err := m.block(a, i, s); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	if err := m.half.AddNorm(a.h, a.x, a.y, m.weights.Norm, rows, m.Hidden, m.Epsilon); err != nil {
		return err
	}
	end, err := m.end.Slice(first*m.Hidden, (first+batch)*m.Hidden)
	if err != nil {
		return err
	}
	return m.half.LastRows(end, a.h, batch, count, m.Hidden)
}

// block is one layer: attention and SwiGLU of norms of x, each left in y, which the next norm adds to x.
func (m *Model) block(a activations, i int, s Step) error {
	b, rows := m.weights.Blocks[i], s.Batch*s.Count
	norm := func(gain device.Buffer[device.Float16], add bool) error {
		if !add {
			return m.half.RMSNorm(a.h, a.x, gain, rows, m.Hidden, m.Epsilon)
		}
		return m.half.AddNorm(a.h, a.x, a.y, gain, rows, m.Hidden, m.Epsilon)
	}
	for _, do := range []func() error{
		func() error { return norm(b.Norm1, i > 0) },
		func() error { return b.QKV.Times(a.qkv, a.h, rows) },
		func() error { return m.attention.Attend(i, a.mixed, a.qkv, s) },
		func() error { return b.Out.Times(a.y, a.mixed, rows) },
		func() error { return norm(b.Norm2, true) },
		func() error { return m.gate(a, b.GateUp, rows) },
		func() error { return b.Down.Times(a.y, a.inner, rows) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// gate writes SwiGLU's inner numbers: in one kernel where the matrix can.
func (m *Model) gate(a activations, w Matrix, rows int) error {
	if w, ok := w.(Gated); ok {
		return w.Gated(a.inner, a.both, a.h, rows)
	}
	if err := w.Times(a.both, a.h, rows); err != nil {
		return err
	}
	return m.half.SwiGLU(a.inner, a.both, rows, m.MLP)
}
