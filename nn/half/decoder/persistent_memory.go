package decoder

import (
	"errors"
	"fmt"

	"flashlab/device"
	"flashlab/nn/half"
	"flashlab/tensor"
)

// The order in which stream.cuh has addresses: those of a layer, of which matrices of four bits have three, and those of the model.
var (
	ofLayer = []string{"the first norm", "the second norm", "keys", "values", "QKV", "Out", "GateUp", "Down"}
	ofModel = []string{"the embedding", "the last norm", "the head"}
)

const (
	matrices = 4 // of a layer
	boxKeys  = 8 // stream.cuh's BOX: keys that come at a time
)

func (p Persistent) perLayer() int {
	if p.bits == 4 {
		return len(ofLayer) + 2*matrices
	}
	return len(ofLayer)
}

// FourBits is a Matrix that can be read as four bits.
type FourBits interface {
	Matrix
	Four() half.Four
}

// bitsOf is how many a layer's weights have.
func bitsOf(w Weights) int {
	if _, four := w.Blocks[0].QKV.(FourBits); four {
		return 4
	}
	return 16
}

func (one *oneKernel) allocate(m *Model, cache *Cache, p Persistent) error {
	addresses, err := m.addresses(cache)
	if err != nil {
		return err
	}
	one.cache, err = device.NewTensorMap(cache.all.Memory(), tensor.Float16, []int{m.Slot(), 2 * m.Layers * m.Slots}, []int{m.Dim, boxKeys}, 0)
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
	places := func(numbers int) int { return over(numbers, 256) * 128 } // whole runs of vector.cuh's place
	for i, n := range []int{places(m.Hidden), m.All() / 2, m.Heads.Heads * p.Splits * (2 + m.Dim), places(m.Width()), places(m.MLP)} {
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
	at := func(name string, b device.Memory) error {
		if b.Addr%16 != 0 {
			return fmt.Errorf("%s at the address %#x: want a multiple of 16", name, b.Addr)
		}
		all = append(all, b.Addr)
		return nil
	}
	add := func(names []string, parts ...any) error {
		for i, part := range parts {
			var failed error
			switch part := part.(type) {
			case Halves:
				failed = at(names[i], part.Memory())
			case Dense:
				failed = at(names[i], part.W.Memory())
			case FourBits:
				four := part.Four()
				if !four.Laid {
					return fmt.Errorf("%s has rows as they are: a step as one kernel reads tiles, laid for tensor cores", names[i])
				}
				failed = errors.Join(at(names[i], four.Codes.Memory()), at(names[i], four.Scales.Memory()), at(names[i], four.Zeros.Memory()))
			default:
				failed = fmt.Errorf("%s is a %T: it takes weights in halves, or of four bits", names[i], part)
			}
			if failed != nil {
				return failed
			}
		}
		return nil
	}
	if len(cache.K) != m.Layers || cache.all.Len() != 2*m.Layers*m.Slots*m.Slot() {
		return nil, fmt.Errorf("the cache is not of a model of %v with %d slots", m.Config, m.Slots)
	}
	for i, b := range m.weights.Blocks {
		for k, w := range []Matrix{b.QKV, b.Out, b.GateUp, b.Down} {
			if _, four := w.(FourBits); four != (bitsOf(m.weights) == 4) {
				return nil, fmt.Errorf("layer %d: %s is a %T: want all matrices of layers in halves, or all of four bits", i, ofLayer[len(ofLayer)-matrices+k], w)
			}
		}
		if err := add(ofLayer, b.Norm1, b.Norm2, cache.K[i], cache.V[i], b.QKV, b.Out, b.GateUp, b.Down); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return all, add(ofModel, m.weights.Embedding, m.weights.Norm, m.weights.Head)
}

// decode queues a step, which moves next, seen and after on as Model.decode does.
func (one *oneKernel) decode(m *Model) error {
	return m.queue.Launch(one.kernel, one.launch, one.cache, one.addresses, m.next, m.seen.Device, m.after.Device, m.turns, one.tagged[0], one.tagged[1],
		one.tagged[2], one.tagged[3], one.tagged[4], m.logits, one.best, one.bestAt, one.arrived, one.launches, m.Vocabulary, m.Slots, m.Epsilon)
}
