package decoder

import (
	"fmt"

	"flashlab/device"
)

// The order in which stream.cuh has addresses: those of a layer, and those of the model.
var (
	ofLayer = []string{"the first norm", "QKV", "Out", "the second norm", "GateUp", "Down", "keys", "values"}
	ofModel = []string{"the embedding", "the last norm", "the head"}
)

func (one *oneKernel) allocate(m *Model, cache *Cache, p Persistent) error {
	addresses, err := m.addresses(cache)
	if err != nil {
		return err
	}
	if one.addresses, err = device.Upload(m.queue, "addresses", addresses); err != nil {
		return err
	}
	m.memory = append(m.memory, one.addresses.Memory())
	for name, b := range map[string]*device.Buffer[uint32]{"arrived": &one.arrived, "launches": &one.launches} {
		if *b, err = device.Upload(m.queue, name, []uint32{0}); err != nil {
			return err
		}
		m.memory = append(m.memory, b.Memory())
	}
	if one.best, err = alloc[float32](m, "best", p.Blocks); err != nil {
		return err
	}
	if one.bestAt, err = alloc[int32](m, "best at", p.Blocks); err != nil {
		return err
	}
	places := func(numbers int) int { return over(numbers, 256) * 128 } // vector.cuh's placesOf
	for i, n := range []int{places(m.Hidden), m.All() / 2, m.KVHeads * p.Splits * m.Heads.Heads / m.KVHeads * (2 + m.Dim), places(m.Width()), places(m.MLP)} {
		b, err := device.Upload(m.queue, "numbers with tags", make([]uint64, n)) // no tag is 0
		if err != nil {
			return err
		}
		one.tagged[i] = b
		m.memory = append(m.memory, b.Memory())
	}
	return nil
}

// addresses are where weights and caches are.
func (m *Model) addresses(cache *Cache) (all []uint64, err error) {
	add := func(names []string, parts ...any) error {
		for i, part := range parts {
			var b Halves
			switch part := part.(type) {
			case Halves:
				b = part
			case Dense:
				b = part.W
			default:
				return fmt.Errorf("%s is a %T: it takes weights in halves", names[i], part)
			}
			at := b.Memory().Addr
			if at%16 != 0 {
				return fmt.Errorf("%s at the address %#x: want a multiple of 16", names[i], at)
			}
			all = append(all, at)
		}
		return nil
	}
	if len(cache.K) != m.Layers || cache.K[0].Len() < m.Slots*m.Slot() {
		return nil, fmt.Errorf("the cache is not of a model of %v with %d slots", m.Config, m.Slots)
	}
	for i, b := range m.weights.Blocks {
		if err := add(ofLayer, b.Norm1, b.QKV, b.Out, b.Norm2, b.GateUp, b.Down, cache.K[i], cache.V[i]); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return all, add(ofModel, m.weights.Embedding, m.weights.Norm, m.weights.Head)
}

// decode queues a step, which moves next, seen and after on as Model.decode does.
func (one *oneKernel) decode(m *Model) error {
	return m.queue.Launch(one.kernel, one.launch, one.addresses, m.next, m.seen.Device, m.after.Device, m.turns, one.tagged[0], one.tagged[1],
		one.tagged[2], one.tagged[3], one.tagged[4], m.logits, one.best, one.bestAt, one.arrived, one.launches, m.Vocabulary, m.Slots, m.Epsilon)
}
