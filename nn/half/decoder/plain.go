package decoder

import (
	"flashlab/device"
	"flashlab/nn/half"
)

// Cache is keys and values of all layers in halves, [Batch, Slots, KVHeads, Dim] each, and room for queries.
type Cache struct {
	Layers *half.Layers
	Heads  half.Heads
	Slots  int
	K, V   []Halves // of each layer
	Q      Halves   // [rows, Heads × Dim]
	all    Halves   // of each layer K, then V
}

// NewCache makes room for a model's. What it takes is in memory, to be freed.
func NewCache(q device.Queue, l *half.Layers, c Config, r Room) (*Cache, []device.Memory, error) {
	cache, n := &Cache{Layers: l, Heads: c.Heads, Slots: r.Slots}, r.Batch*r.Slots*c.Slot()
	var memory []device.Memory
	room := func(name string, n int) (Halves, error) {
		b, err := device.Alloc[device.Float16](q, name, n)
		if err == nil {
			memory = append(memory, b.Memory())
		}
		return b, err
	}
	var err error
	if cache.all, err = room("cache", 2*c.Layers*n); err != nil {
		return nil, memory, err
	}
	for i := range c.Layers {
		k, _ := cache.all.Slice(2*i*n, (2*i+1)*n) // as many as there are
		v, _ := cache.all.Slice((2*i+1)*n, (2*i+2)*n)
		cache.K, cache.V = append(cache.K, k), append(cache.V, v)
	}
	cache.Q, err = room("q", r.Rows*c.Width())
	return cache, memory, err
}

// Of are a layer's keys and values of a step's sequences, and its queries' place.
func (c *Cache) Of(layer int, s Step) (q, k, v Halves, err error) {
	each := c.Slots * c.Heads.Slot()
	if k, err = c.K[layer].Slice(s.First*each, (s.First+s.Batch)*each); err != nil {
		return q, k, v, err
	}
	if v, err = c.V[layer].Slice(s.First*each, (s.First+s.Batch)*each); err != nil {
		return q, k, v, err
	}
	q, err = c.Q.Slice(0, s.Batch*s.Count*c.Heads.Width())
	return q, k, v, err
}

// Plain is the attention of package half.
type Plain struct{ *Cache }

// Attend rotates, keeps, and attends.
func (p Plain) Attend(layer int, out, qkv Halves, s Step) error {
	q, k, v, err := p.Of(layer, s)
	if err != nil {
		return err
	}
	if err := p.Layers.RotateInto(q, k, v, qkv, s.Positions, p.Heads, p.Slots); err != nil {
		return err
	}
	return p.Layers.Attend(out, q, k, v, s.Positions, p.Heads, p.Slots)
}
