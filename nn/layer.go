package nn

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// PlainKernels are kernels to build an attention layer from: the plain attention,
// both for prompts and for decoding.
func PlainKernels(q device.Queue, l *Layers) (attn.Kernels, error) {
	a, err := NewAttention(q)
	return attn.Kernels{Prefill: a, Decode: a, Rearranger: l}, err
}

// plainLayer is an attention layer that treats prompts and single tokens alike.
type plainLayer struct {
	attn.LayerShape
	attn.Projections
	attention  *Attention
	cache      attn.Cache
	q, k, v, y Floats // of MaxRows rows
}

var _ attn.NewLayer = NewLayer

// NewLayer makes a plain attention layer. Of the kernels it takes the plain
// Attention, if that is what they hold, and otherwise compiles one: it has no use
// for others.
func NewLayer(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, c attn.Cache) (attn.Layer, error) {
	what := func() string { return fmt.Sprintf("attention layer of %d heads, %d rows at most", s.Heads, s.MaxRows) }
	if err := c.Check(); err != nil {
		return nil, err
	}
	if s.CacheShape != c.CacheShape {
		return nil, fmt.Errorf("%s: the layer has %v, the cache given is %v", what(), s.CacheShape, c.CacheShape)
	}
	if err := check(what, []int{s.Heads, s.MaxRows}); err != nil {
		return nil, err
	}
	if err := shareable(what, s.Heads, c); err != nil {
		return nil, err
	}
	l := &plainLayer{LayerShape: s, Projections: p, cache: c}
	var err error
	if own, ok := k.Decode.(*Attention); ok {
		l.attention = own
	} else if l.attention, err = NewAttention(q); err != nil {
		return nil, err
	}
	for _, b := range []struct {
		name  string
		to    *Floats
		width int
	}{{"q", &l.q, s.Width()}, {"k", &l.k, s.Slot()}, {"v", &l.v, s.Slot()}, {"y", &l.y, s.Width()}} {
		if *b.to, err = device.Alloc[float32](q, b.name, s.MaxRows*b.width); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Forward is the layer's pass over the tokens of one step.
func (l *plainLayer) Forward(out, x Floats, s attn.Step) error {
	rows := s.Rows()
	if rows < 1 || rows > l.MaxRows {
		return fmt.Errorf("attention layer: a step of %d × %d tokens, want 1 to %d", s.Batch, s.Count, l.MaxRows)
	}
	// Within capacity, so that slicing cannot fail.
	q, _ := l.q.Slice(0, rows*l.Width())
	k, _ := l.k.Slice(0, rows*l.Slot())
	v, _ := l.v.Slice(0, rows*l.Slot())
	y, _ := l.y.Slice(0, rows*l.Width())
	if err := l.QKV(q, k, v, x, s); err != nil {
		return err
	}
	if err := l.attention.Update(l.cache, k, v, s.Count, s.Before); err != nil {
		return err
	}
	if err := l.attention.Attend(y, q, l.cache, l.Heads, s.Count, s.Before); err != nil {
		return err
	}
	return l.Out(out, y, s)
}
