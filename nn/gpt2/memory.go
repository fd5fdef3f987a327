package gpt2

import (
	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
)

// allocate makes room for the weights, the cache, and what the layers pass on to
// each other.
func (m *Model) allocate() (err error) {
	c := m.config
	floats := func(name string, n int) (b nn.Floats) {
		if err == nil {
			b, err = device.Alloc[float32](m.queue, name, n)
			m.memory = append(m.memory, b.Memory())
		}
		return b
	}
	ints := func(name string, n int) (b nn.Ints) {
		if err == nil {
			b, err = device.Alloc[int32](m.queue, name, n)
			m.memory = append(m.memory, b.Memory())
		}
		return b
	}
	for _, t := range c.Tensors() {
		m.weights[t.Name] = floats(t.Name, t.Elements())
	}
	shape := attn.CacheShape{Batch: 1, MaxSeq: c.Positions, KVHeads: c.Heads, Dim: c.Dim()}
	for range c.Layers {
		m.cache = append(m.cache, attn.Cache{K: floats("cache k", shape.Elements()), V: floats("cache v", shape.Elements()), CacheShape: shape})
	}
	m.counts = ints("counts and tokens", firstToken+c.Positions)
	m.before = attn.PerSequence{Host: []int{0}}
	m.after = attn.PerSequence{Host: []int{0}}
	if err == nil {
		m.before.Device, _ = m.counts.Slice(0, 1)
		m.after.Device, _ = m.counts.Slice(1, 2)
		m.tokens, _ = m.counts.Slice(firstToken, m.counts.Len())
	}
	m.x, m.y, m.added = floats("x", c.Positions*c.Width), floats("y", c.Positions*c.Width), floats("added", c.Positions*c.Width)
	m.inner = floats("inner", c.Positions*c.Inner)
	m.last, m.logits = floats("last", c.Width), floats("logits", c.Vocabulary)
	if err == nil && m.device != nil {
		err = m.poison()
	}
	return err
}

// poison fills the cache with NaN, so that a kernel that reads slots which no
// token has taken yet is caught.
func (m *Model) poison() error {
	for _, c := range m.cache {
		for _, b := range []nn.Floats{c.K, c.V} {
			if err := m.device.Poison(b.Memory()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close frees the graph and the memory. What the layers hold is freed with the
// device.
func (m *Model) Close() error {
	var failed error
	if m.graph != nil {
		failed = m.graph.Close()
		m.graph = nil
	}
	for _, err := range []error{m.prompt.forget(), m.onward.close()} {
		if failed == nil {
			failed = err
		}
	}
	if err := free(m.queue, m.cut); failed == nil {
		failed = err
	}
	m.cut = nil
	for _, b := range m.memory {
		if b.Bytes == 0 {
			continue // the one that could not be allocated
		}
		if err := m.queue.Free(b); failed == nil {
			failed = err
		}
	}
	m.memory = nil
	return failed
}
