package llama3

import (
	"math"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
)

// repeats tells whether keys and values are there more often than the model computes them.
func (m *Model) repeats() bool { return !m.grouped && m.config.KVHeads < m.config.Heads }

// room makes room that Close gives back. After the first error it does nothing.
func room[T device.Scalar](m *Model, failed *error, name string, n int) (b device.Buffer[T]) {
	if *failed != nil {
		return b
	}
	if b, *failed = device.Alloc[T](m.queue, name, n); *failed == nil {
		m.memory = append(m.memory, b.Memory())
	}
	return b
}

// allocate makes room for the weights, the cache, and what the layers pass on to each other.
func (m *Model) allocate() (err error) {
	c := m.config
	floats := func(name string, n int) nn.Floats { return room[float32](m, &err, name, n) }
	for _, t := range c.Tensors() {
		m.weights[t.Name] = floats(t.Name, t.Elements())
	}
	shape := attn.CacheShape{Batch: 1, MaxSeq: c.Positions, KVHeads: c.KVHeads, Dim: c.Dim}
	if m.repeats() {
		shape.KVHeads = c.Heads
		m.k, m.v = floats("k", c.Positions*c.KVHeads*c.Dim), floats("v", c.Positions*c.KVHeads*c.Dim)
	}
	for range c.Layers {
		m.cache = append(m.cache, attn.Cache{K: floats("cache k", shape.Elements()), V: floats("cache v", shape.Elements()), CacheShape: shape})
	}
	m.x, m.y, m.added = floats("x", c.Positions*c.Width), floats("y", c.Positions*c.Width), floats("added", c.Positions*c.Width)
	m.gate, m.up = floats("gate", c.Positions*c.Inner), floats("up", c.Positions*c.Inner)
	m.last, m.logits = floats("last", c.Width), floats("logits", c.Vocabulary)
	m.turns = room[float64](m, &err, "turns", c.Dim/2)
	m.counts = room[int32](m, &err, "counts and tokens", firstToken+c.Positions)
	m.before, m.after = attn.PerSequence{Host: []int{0}}, attn.PerSequence{Host: []int{0}}
	if err != nil {
		return err
	}
	m.before.Device, _ = m.counts.Slice(0, 1)
	m.after.Device, _ = m.counts.Slice(1, 2)
	m.tokens, _ = m.counts.Slice(firstToken, m.counts.Len())
	turns := c.Frequencies()
	for j := range turns {
		turns[j] /= 2 * math.Pi
	}
	if err := m.turns.CopyIn(m.queue, turns); err != nil || m.device == nil {
		return err
	}
	return m.poison()
}

// poison fills the cache with NaN, so that a kernel that reads slots which no token has taken yet is caught.
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

// Close frees the graph and the memory. What the layers hold is freed with the device.
func (m *Model) Close() error {
	var failed error
	if m.graph != nil {
		failed = m.graph.Close()
		m.graph = nil
	}
	for _, b := range m.memory {
		if err := m.queue.Free(b); failed == nil {
			failed = err
		}
	}
	m.memory = nil
	return failed
}
