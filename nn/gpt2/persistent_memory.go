package gpt2

import (
	"fmt"

	"flashlab/device"
)

// The order in which stream.cuh has addresses: those of a layer, its keys and values behind them, and those of the model.
var (
	ofLayer = []string{Gain1, Bias1, QKVWeight, QKVBias, OutWeight, OutBias, Gain2, Bias2, UpWeight, UpBias, DownWeight, DownBias}
	ofModel = []string{TokenTable, PositionTable, FinalGain, FinalBias}
)

var perLayer = len(ofLayer) + 2

func (one *oneKernel) allocate(m *Model, p Persistent) error {
	c := m.config
	matrices, err := p.matrices(m)
	if err != nil {
		return err
	}
	var addresses []uint64
	add := func(name string) error {
		at := m.weights[name].Memory()
		if halves, ok := matrices[name]; ok {
			at = halves.Memory()
		}
		if at.Addr%16 != 0 {
			return fmt.Errorf("%s at the address %#x: want a multiple of 16", name, at.Addr)
		}
		addresses = append(addresses, at.Addr)
		return nil
	}
	for i := range c.Layers {
		for _, name := range ofLayer {
			if err := add(InLayer(i, name)); err != nil {
				return err
			}
		}
		addresses = append(addresses, m.cache[i].K.Memory().Addr, m.cache[i].V.Memory().Addr)
	}
	for _, name := range ofModel {
		if err := add(name); err != nil {
			return err
		}
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
	if one.bestAt, err = device.Alloc[int32](m.queue, "best at", p.Blocks); err != nil {
		return err
	}
	m.memory = append(m.memory, one.bestAt.Memory())
	if one.best, err = device.Alloc[float32](m.queue, "best", p.Blocks); err != nil {
		return err
	}
	m.memory = append(m.memory, one.best.Memory())
	for name, n := range map[string]int{"x": c.Width, "qkv": 3 * c.Width, "parts": c.Heads * p.Splits * (2 + c.Dim()), "mixed": c.Width, "inner": c.Inner} {
		b, err := device.Upload(m.queue, name+" of a step", make([]uint64, n)) // no tag is 0
		if err != nil {
			return err
		}
		one.tagged[name] = b
		m.memory = append(m.memory, b.Memory())
	}
	return nil
}

// decode queues a step, which moves before, after and tokens on as Model.decode does.
func (one *oneKernel) decode(m *Model) error {
	return m.queue.Launch(one.kernel, one.launch, one.addresses, m.tokens, m.before.Device, m.after.Device, one.tagged["x"], one.tagged["qkv"],
		one.tagged["parts"], one.tagged["mixed"], one.tagged["inner"], m.logits, one.best, one.bestAt, one.arrived, one.launches,
		m.config.Vocabulary, m.config.Positions, m.config.Epsilon)
}

// matrices are those that steps read as halves: all of them with 16 bits, and else none.
func (p Persistent) matrices(m *Model) (map[string]device.Buffer[device.Float16], error) {
	if p.Bits != 16 {
		return nil, nil
	}
	module, err := m.queue.Compile(device.Source{Folder: persistentFolder, Name: "halves.cu"})
	if err != nil {
		return nil, err
	}
	kernel, err := module.Kernel("to_halves")
	if err != nil {
		return nil, err
	}
	all := map[string]device.Buffer[device.Float16]{}
	for _, t := range m.config.Tensors() {
		if !t.Stored && t.Name != TokenTable {
			continue
		}
		from := m.weights[t.Name]
		to, err := device.Alloc[device.Float16](m.queue, t.Name+" in halves", from.Len())
		if err != nil {
			return nil, err
		}
		m.memory = append(m.memory, to.Memory())
		if err := m.queue.Launch(kernel, device.Launch{Grid: device.D1(min(1024, from.Len()/1024+1)), Block: device.D1(256)}, from, to, int64(from.Len())); err != nil {
			return nil, err
		}
		all[t.Name] = to
	}
	return all, nil
}
