package ways

import (
	"flashlab/attn"
	decode "flashlab/bonus/b6_decode"
	kvcache "flashlab/bonus/b7_kvcache"
	"flashlab/device"
	"flashlab/nn/half"
	"flashlab/nn/half/decoder"
)

// prompt is attention among a prompt's tokens: q, k and v come by heads, and go there again.
type prompt struct {
	parts       *parts
	heads       half.Heads
	q, k, v, by half.Halves // [Rows, …]; by is the attention by heads
}

func (a *arena) prompt(p *parts, w Workload) (*prompt, error) {
	rows := w.Room().Rows
	x := &prompt{parts: p, heads: w.Heads}
	for _, b := range []struct {
		to    *half.Halves
		name  string
		width int
	}{{&x.q, "q", w.Width()}, {&x.k, "k", w.Slot()}, {&x.v, "v", w.Slot()}, {&x.by, "by heads", w.Width()}} {
		var err error
		if *b.to, err = alloc[device.Float16](a, b.name, rows*b.width); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// places are those of a step's tokens.
func (x *prompt) places(s decoder.Step) (q, k, v, by half.Halves) {
	rows := s.Batch * s.Count // at most Rows
	q, _ = x.q.Slice(0, rows*x.heads.Width())
	k, _ = x.k.Slice(0, rows*x.heads.Slot())
	v, _ = x.v.Slice(0, rows*x.heads.Slot())
	by, _ = x.by.Slice(0, rows*x.heads.Width())
	return q, k, v, by
}

// attend is bonus task b2's, once q, k and v are rotated.
func (x *prompt) attend(out half.Halves, s decoder.Step) error {
	q, k, v, by := x.places(s)
	shape := attn.Shape{Batch: s.Batch, Heads: x.heads.Heads, KVHeads: x.heads.KVHeads, SeqQ: s.Count, SeqK: s.Count, Dim: x.heads.Dim, Causal: true}
	if err := x.parts.attention.Float16(by, q, k, v, shape); err != nil {
		return err
	}
	return x.parts.half.MergeHeads(out, by, s.Batch, s.Count, x.heads.Heads, x.heads.Dim)
}

func shapeOf(h half.Heads, s decoder.Step, slots int) attn.DecodeShape {
	return attn.DecodeShape{Heads: h.Heads, CacheShape: attn.CacheShape{Batch: s.Batch, MaxSeq: slots, KVHeads: h.KVHeads, Dim: h.Dim}}
}

// ours keeps halves, and reads them by bonus task b6's decoding. For prompts package half has b2's kernel, which reads
// the cache in place.
type ours struct {
	decoder.Plain
	decode *decode.Decode
}

func (o ours) Attend(layer int, out, qkv half.Halves, s decoder.Step) error {
	if s.Count > 1 {
		return o.Plain.Attend(layer, out, qkv, s)
	}
	q, keys, values, err := o.Of(layer, s)
	if err != nil {
		return err
	}
	if err := o.Layers.RotateInto(q, keys, values, qkv, s.Positions, o.Heads, o.Slots); err != nil {
		return err
	}
	return o.decode.Float16(out, q, keys, values, shapeOf(o.Heads, s, o.Slots), s.After)
}

// kivi keeps 4 bits, by bonus task b7.
type kivi struct {
	*prompt
	cache  *kvcache.Cache
	slots  int
	layers []half.Kivi
}

func (a *arena) kivi(p *parts, w Workload) (kivi, error) {
	x, err := a.prompt(p, w)
	if err != nil {
		return kivi{}, err
	}
	k := kivi{prompt: x, cache: p.cache, slots: w.Room().Slots, layers: make([]half.Kivi, w.Layers)}
	heads := w.Batch * w.KVHeads
	tokens, open := heads*k.slots, heads*group*w.Dim
	for i := range k.layers {
		c := &k.layers[i]
		for _, to := range []*device.Buffer[uint8]{&c.K, &c.V} {
			if *to, err = alloc[uint8](a, "codes", tokens*w.Dim/2); err != nil {
				return k, err
			}
		}
		for _, b := range []struct {
			to *half.Halves
			n  int
		}{{&c.KScales, tokens / group * w.Dim}, {&c.KLows, tokens / group * w.Dim}, {&c.VScales, tokens}, {&c.VLows, tokens}, {&c.KOpen, open}, {&c.VOpen, open}} {
			if *b.to, err = alloc[device.Float16](a, "scales and open groups", b.n); err != nil {
				return k, err
			}
		}
	}
	return k, nil
}

// of is the part of a layer's cache that a step's sequences have.
func (k kivi) of(layer int, s decoder.Step) half.Kivi {
	c := k.layers[layer]
	return half.Kivi{K: part(c.K, k, s), V: part(c.V, k, s), KScales: part(c.KScales, k, s), VScales: part(c.VScales, k, s),
		KLows: part(c.KLows, k, s), VLows: part(c.VLows, k, s), KOpen: part(c.KOpen, k, s), VOpen: part(c.VOpen, k, s)}
}

func part[T device.Scalar](b device.Buffer[T], k kivi, s decoder.Step) device.Buffer[T] {
	each := b.Len() / (k.layers[0].VScales.Len() / k.slots / k.heads.KVHeads) // of a sequence
	p, _ := b.Slice(s.First*each, (s.First+s.Batch)*each)
	return p
}

func (k kivi) Attend(layer int, out, qkv half.Halves, s decoder.Step) error {
	q, keys, values, _ := k.places(s)
	if err := k.parts.half.Rotate(q, keys, values, qkv, s.Positions, k.heads); err != nil {
		return err
	}
	c := k.of(layer, s)
	if s.Count > 1 {
		if err := k.parts.half.KeepKivi(c, keys, values, s.Batch, s.Count, k.slots, k.heads); err != nil {
			return err
		}
		return k.attend(out, s)
	}
	cache := kvcache.Int4{K: c.K, V: c.V, KScales: c.KScales, KLows: c.KLows, VScales: c.VScales, VLows: c.VLows, KOpen: c.KOpen, VOpen: c.VOpen}
	shape := shapeOf(k.heads, s, k.slots)
	if err := k.cache.AppendInt4(cache, keys, values, shape.CacheShape, s.Seen); err != nil {
		return err
	}
	return k.cache.DecodeInt4(out, q, cache, shape, s.After)
}
