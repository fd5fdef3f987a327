// Package halved runs a float32 layer's attention on kernels that take halves: queries, keys and values are rounded on their
// way in, the cache keeps halves, and results become float32 again.
package halved

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

type (
	floats = device.Buffer[float32]
	halves = device.Buffer[device.Float16]
)

// Prompts is attention in halves, as bonus task b2 has it.
type Prompts interface {
	Float16(out, q, k, v halves, s attn.Shape) error
}

// Steps is decoding in halves, as bonus task b6 has it.
type Steps interface {
	Float16(out, q, k, v halves, s attn.DecodeShape, lengths attn.PerSequence) error
}

// Attention is both, with what it takes to get there and back.
type Attention struct {
	queue   device.Queue
	prompts Prompts
	steps   Steps
	kernels map[string]device.Kernel
}

const block = 256

// New compiles the course's part.
func New(q device.Queue, p Prompts, s Steps) (*Attention, error) {
	m, err := q.Compile(device.Source{Folder: "grader/tasks/talk/halved", Name: "halved.cu"})
	if err != nil {
		return nil, fmt.Errorf("the course's own kernels: %w", err)
	}
	a := &Attention{q, p, s, map[string]device.Kernel{}}
	for _, name := range []string{"to_halves", "to_floats", "keep"} {
		if a.kernels[name], err = m.Kernel(name); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Layer is what newLayer makes, with its attention in halves: the kernels and the float32 cache that it is given have no
// part in it.
func (a *Attention) Layer(newLayer attn.NewLayer) attn.NewLayer {
	var room part // layers follow each other, and share it
	return func(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, c attn.Cache) (attn.Layer, error) {
		if room.attention == nil {
			room.attention = a
			for _, b := range []struct {
				name string
				to   *halves
				row  int
			}{{"q in halves", &room.q, s.Width()}, {"k in halves", &room.k, s.Slot()}, {"v in halves", &room.v, s.Slot()}, {"out in halves", &room.out, s.Width()}} {
				var err error
				if *b.to, err = device.Alloc[device.Float16](a.queue, b.name, s.MaxRows*b.row); err != nil {
					return nil, err
				}
			}
		}
		own := room
		var err error
		if own.cacheK, err = device.Alloc[device.Float16](a.queue, "cached keys in halves", c.Elements()); err != nil {
			return nil, err
		}
		if own.cacheV, err = device.Alloc[device.Float16](a.queue, "cached values in halves", c.Elements()); err != nil {
			return nil, err
		}
		return newLayer(q, s, p, attn.Kernels{Prefill: &own, Decode: &own, Rearranger: k.Rearranger}, c)
	}
}

// part is one layer's: its cache, and room for what is converted.
type part struct {
	attention      *Attention
	q, k, v, out   halves
	cacheK, cacheV halves
}

func (a *Attention) launch(kernel string, n int, args ...any) error {
	return a.queue.Launch(a.kernels[kernel], device.Launch{Grid: device.D1((n + block - 1) / block), Block: device.D1(block)}, args...)
}

// round puts numbers into the beginning of a buffer, as halves.
func (a *Attention) round(to halves, from floats) (halves, error) {
	n := from.Len()
	to, err := to.Slice(0, n)
	if err != nil {
		return to, err
	}
	return to, a.launch("to_halves", n, to, from, n)
}

// Run is a prompt's attention.
func (p *part) Run(out, q, k, v floats, s attn.Shape) error {
	a := p.attention
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	var narrow [3]halves
	for i, one := range []struct {
		to   halves
		from floats
	}{{p.q, q}, {p.k, k}, {p.v, v}} {
		var err error
		if narrow[i], err = a.round(one.to, one.from); err != nil {
			return err
		}
	}
	y, err := p.out.Slice(0, out.Len())
	if err != nil {
		return err
	}
	if err := a.prompts.Float16(y, narrow[0], narrow[1], narrow[2], s); err != nil {
		return err
	}
	return a.launch("to_floats", out.Len(), out, y, out.Len())
}

// Update keeps new tokens' keys and values, in halves.
func (p *part) Update(c attn.Cache, k, v floats, count int, at attn.PerSequence) error {
	n := c.Batch * count * c.Slot()
	if count < 1 || k.Len() != n || v.Len() != n {
		return fmt.Errorf("update of %v with %d tokens a sequence: k holds %d numbers and v %d, want %d in each", c.CacheShape, count, k.Len(), v.Len(), n)
	}
	if err := c.CheckPerSequence("positions", at); err != nil {
		return err
	}
	for b, before := range at.Host {
		if before < 0 || before > c.MaxSeq-count {
			return fmt.Errorf("update of %v: sequence %d has %d tokens already: there is no slot for %d more", c.CacheShape, b, before, count)
		}
	}
	for _, one := range []struct {
		to   halves
		from floats
	}{{p.cacheK, k}, {p.cacheV, v}} {
		if err := p.attention.launch("keep", n, one.to, one.from, at.Device, n, count, c.MaxSeq, c.Slot()); err != nil {
			return err
		}
	}
	return nil
}

// Decode is attention of one token of each sequence to what is kept.
func (p *part) Decode(out, q floats, c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	a := p.attention
	if err := s.Check(out, q, c, lengths); err != nil {
		return err
	}
	narrow, err := a.round(p.q, q)
	if err != nil {
		return err
	}
	y, err := p.out.Slice(0, out.Len())
	if err != nil {
		return err
	}
	if err := a.steps.Float16(y, narrow, p.cacheK, p.cacheV, s, lengths); err != nil {
		return err
	}
	return a.launch("to_floats", out.Len(), out, y, out.Len())
}
