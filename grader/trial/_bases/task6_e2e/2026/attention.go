package e2e

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

type buffer = device.Buffer[float32]

// Attention is the attention of one layer: it is given weights, kernels and a
// cache, and puts them together.
type Attention struct {
	shape       attn.LayerShape
	projections attn.Projections
	kernels     attn.Kernels
	cache       attn.Cache
	rows, heads tensors // the same numbers in two layouts
}

// tensors are q, k and v with room for MaxRows rows, either as the projections
// and the cache have them, [rows, heads × dim], or as a prefill wants them,
// [batch, heads, count, dim].
type tensors struct{ q, k, v buffer }

var _ attn.NewLayer = New

// New makes the attention of one layer, with all the memory that it will need.
func New(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, c attn.Cache) (attn.Layer, error) {
	if s.CacheShape != c.CacheShape {
		return nil, fmt.Errorf("a layer with %v: the cache given is %v", s.CacheShape, c.CacheShape)
	}
	a := &Attention{shape: s, projections: p, kernels: k, cache: c}
	for _, t := range []struct {
		name string
		to   *buffer
		row  int
	}{
		{"rows.q", &a.rows.q, s.Width()}, {"rows.k", &a.rows.k, s.Slot()}, {"rows.v", &a.rows.v, s.Slot()},
		{"heads.q", &a.heads.q, s.Width()}, {"heads.k", &a.heads.k, s.Slot()}, {"heads.v", &a.heads.v, s.Slot()},
	} {
		b, err := device.Alloc[float32](q, t.name, s.MaxRows*t.row)
		if err != nil {
			return nil, err
		}
		*t.to = b
	}
	return a, nil
}

// part is what a pass of so many rows needs of buffers for MaxRows. A slice
// allocates nothing: it is another view of the same memory.
func (t tensors) part(rows int, s attn.LayerShape) (p tensors, err error) {
	for _, b := range []struct {
		to   *buffer
		of   buffer
		size int
	}{{&p.q, t.q, rows * s.Width()}, {&p.k, t.k, rows * s.Slot()}, {&p.v, t.v, rows * s.Slot()}} {
		if *b.to, err = b.of.Slice(0, b.size); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Forward writes the layer's output for the tokens of one pass.
func (a *Attention) Forward(out, x buffer, s attn.Step) error {
	t, err := a.rows.part(s.Rows(), a.shape)
	if err != nil {
		return fmt.Errorf("a pass of %d × %d tokens, with room for %d: %w", s.Batch, s.Count, a.shape.MaxRows, err)
	}
	h, err := a.heads.part(s.Rows(), a.shape)
	if err != nil {
		return err
	}
	if err := a.projections.QKV(t.q, t.k, t.v, x, s); err != nil {
		return err
	}
	// Before anything reads the cache: a decoded token sees itself. A prompt's
	// attention does not read it, but later steps will.
	if err := a.kernels.Decode.Update(a.cache, t.k, t.v, s.Count, s.Before); err != nil {
		return err
	}
	y := h.q // either way
	if isPrompt(s) {
		err = a.prefill(t, h, s)
	} else {
		err = a.decode(y, t.q, s)
	}
	if err != nil {
		return err
	}
	return a.projections.Out(out, y, s)
}

// isPrompt tells a pass over prompts from a step of decoding. While a step is
// recorded, s.Before.Host holds the numbers of that step; in no later one does a
// sequence have no tokens before.
func isPrompt(s attn.Step) bool { return s.Count > 1 || s.Before.Host[0] == 0 }

// prefill is attention among the tokens of the prompts t, and leaves it in h.q.
func (a *Attention) prefill(t, h tensors, s attn.Step) error {
	k, l := a.kernels, a.shape
	for _, m := range []struct {
		dst, src buffer
		heads    int
	}{{h.q, t.q, l.Heads}, {h.k, t.k, l.KVHeads}, {h.v, t.v, l.KVHeads}} {
		if err := k.SplitHeads(m.dst, m.src, s.Batch, s.Count, m.heads, l.Dim); err != nil {
			return err
		}
	}
	shape := attn.Shape{Batch: s.Batch, Heads: l.Heads, KVHeads: l.KVHeads, SeqQ: s.Count, SeqK: s.Count, Dim: l.Dim, Causal: true}
	// q has been split, so that its rows are free for the result; and once that is
	// there, the split q is.
	if err := k.Prefill.Run(t.q, h.q, h.k, h.v, shape); err != nil {
		return err
	}
	return k.MergeHeads(h.q, t.q, s.Batch, s.Count, l.Heads, l.Dim)
}

// decode is attention of one new token of each sequence to all before it and
// itself. One token's heads lie as the cache has them: there is nothing to split.
func (a *Attention) decode(y, q buffer, s attn.Step) error {
	shape := attn.DecodeShape{Heads: a.shape.Heads, CacheShape: a.cache.CacheShape}
	return a.kernels.Decode.Decode(y, q, a.cache, shape, s.After)
}
