package llama

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// activations are the parts of the model's buffers that so many rows take.
type activations struct{ x, h, y, gate, up Floats }

func (m *Model) activations(rows int) (a activations, err error) {
	for _, p := range []struct {
		to   *Floats
		of   Floats
		size int
	}{{&a.x, m.x, m.Hidden}, {&a.h, m.h, m.Hidden}, {&a.y, m.y, m.Hidden}, {&a.gate, m.gate, m.MLP}, {&a.up, m.up, m.MLP}} {
		if *p.to, err = p.of.Slice(0, rows*p.size); err != nil {
			return a, err
		}
	}
	return a, nil
}

// pass queues the whole model for count new tokens of each sequence, and moves
// the device's counts on. It allocates and copies nothing.
func (m *Model) pass(tokens device.Buffer[int32], count int) error {
	l, s := m.layers, attn.Step{Batch: m.Batch, Count: count, Before: m.before, After: m.after}
	rows := s.Rows()
	a, err := m.activations(rows)
	if err != nil {
		return err
	}
	if err := l.Embed(a.x, tokens, m.embedding, rows, m.Hidden); err != nil {
		return err
	}
	for i, b := range m.blocks {
		if err := m.attend(a, b, s); err != nil {
			return fmt.Errorf("the attention of layer %d: %w", i, err)
		}
		if err := m.swiGLU(a, b, rows); err != nil {
			return err
		}
	}
	return first(
		// Only the last token's logits are wanted.
		l.LastRows(m.end, a.x, m.Batch, count, m.Hidden),
		l.LayerNorm(m.end, m.end, m.last.gain, m.last.bias, m.Batch, m.Hidden, Epsilon),
		l.Linear(m.logits, m.end, m.head, Floats{}, m.Batch, m.Hidden, m.Vocabulary),
		l.Argmax(m.next, m.logits, m.Batch, m.Vocabulary),
		l.Advance(m.before.Device, count),
		l.Advance(m.after.Device, 1), // After = Before + 1: a step follows
	)
}

// attend writes a layer's attention to y.
func (m *Model) attend(a activations, b block, s attn.Step) error {
	if err := m.layers.LayerNorm(a.h, a.x, b.norm1.gain, b.norm1.bias, s.Rows(), m.Hidden, Epsilon); err != nil {
		return err
	}
	return b.attention.Forward(a.y, a.h, s)
}

// swiGLU adds a layer's attention y, then its SwiGLU, to x.
func (m *Model) swiGLU(a activations, b block, rows int) error {
	l := m.layers
	return first(
		l.AddNorm(a.h, a.x, a.y, b.norm2.gain, b.norm2.bias, rows, m.Hidden, Epsilon),
		l.LinearSwiGLU(a.gate, a.up, a.h, b.gate, b.up, rows, m.Hidden, m.MLP),
		l.LinearAdd(a.x, a.gate, b.down, Floats{}, rows, m.MLP, m.Hidden),
	)
}

// first is the first error. The calls that are its arguments happen one after
// another; those after one that is refused compute nothing of use, and do no
// harm.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
