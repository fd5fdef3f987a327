package ways

import (
	"errors"
	"fmt"

	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/half"
	"flashlab/nn/half/decoder"
	"flashlab/nn/llama3"
	"flashlab/tensor"
)

// source puts weights on the device: those of a folder, or random ones, which are made there, with the
// same bits as in Go.
type source struct {
	Workload
	device device.Queue
	layers *nn.Layers
}

func (s source) put(to half.Halves, t llama3.Tensor) error {
	if s.Weights == nil && len(t.Shape) == 2 {
		stream, scale, _ := t.Random()
		return s.layers.FillHalves(to, tensor.Normal, s.Seed, stream, scale)
	}
	weights := s.Weights
	if weights == nil {
		var err error
		if weights, err = llama3.Random(s.Llama, s.Seed); err != nil {
			return err
		}
	}
	return llama3.Halves(weights, t, func(from int, halves []device.Float16) error {
		piece, err := to.Slice(from, from+len(halves))
		if err != nil {
			return err
		}
		return piece.CopyIn(s.device, halves)
	})
}

// one is a weight in a place of its own.
func (a *arena) one(s source, name string, shape ...int) (half.Halves, error) {
	t := llama3.Tensor{Name: name, Shape: shape}
	b, err := alloc[device.Float16](a, name, t.Elements())
	if err != nil {
		return b, err
	}
	return b, s.put(b, t)
}

// stacked are matrices of one input, one below the other.
type stacked struct {
	inputs  int
	tensors []llama3.Tensor
}

func stack(layer, inputs int, parts ...llama3.Tensor) stacked {
	s := stacked{inputs: inputs}
	for _, t := range parts {
		s.tensors = append(s.tensors, llama3.Tensor{Name: llama3.InLayer(layer, t.Name+llama3.Weight), Shape: []int{t.Shape[0], inputs}})
	}
	return s
}

func (s stacked) outputs() (n int) {
	for _, t := range s.tensors {
		n += t.Shape[0]
	}
	return n
}

func (s stacked) put(to half.Halves, from source) error {
	at := 0
	for _, t := range s.tensors {
		part, err := to.Slice(at, at+t.Elements())
		if err != nil {
			return err
		}
		if err := from.put(part, t); err != nil {
			return err
		}
		at += t.Elements()
	}
	return nil
}

// weights makes those of a way.
func (a *arena) weights(p *parts, w Workload, way Way) (all decoder.Weights, err error) {
	s := source{w, a.device, p.nn}
	build := func(m stacked) (decoder.Matrix, error) { return a.dense(p, s, m) }
	if way.Four {
		f := fours{parts: p, arena: a, laid: w.Batch > 1 || way.One}
		if err := f.begin(w); err != nil {
			return all, err
		}
		defer func() { err = errors.Join(err, f.end()) }()
		build = func(m stacked) (decoder.Matrix, error) { return f.matrix(s, m) }
	}
	if all.Embedding, err = a.one(s, llama3.TokenTable, w.Vocabulary, w.Hidden); err != nil {
		return all, err
	}
	all.Head = all.Embedding
	if !w.Llama.Tied {
		if all.Head, err = a.one(s, llama3.Head, w.Vocabulary, w.Hidden); err != nil {
			return all, err
		}
	}
	for i := range w.Layers {
		b, err := a.block(s, i, build)
		if err != nil {
			return all, fmt.Errorf("layer %d: %w", i, err)
		}
		all.Blocks = append(all.Blocks, b)
	}
	all.Norm, err = a.one(s, llama3.FinalGain, w.Hidden)
	return all, err
}

// dense is a matrix in halves.
func (a *arena) dense(p *parts, s source, m stacked) (decoder.Matrix, error) {
	outputs := m.outputs()
	b, err := alloc[device.Float16](a, m.tensors[0].Name, outputs*m.inputs)
	if err != nil {
		return nil, err
	}
	return decoder.Dense{Layers: p.half, W: b, Inputs: m.inputs, Outputs: outputs}, m.put(b, s)
}

func (a *arena) block(s source, i int, build func(stacked) (decoder.Matrix, error)) (b decoder.Block, err error) {
	rows := func(name string, n int) llama3.Tensor { return llama3.Tensor{Name: name, Shape: []int{n}} }
	if b.Norm1, err = a.one(s, llama3.InLayer(i, llama3.Gain1), s.Hidden); err != nil {
		return b, err
	}
	if b.Norm2, err = a.one(s, llama3.InLayer(i, llama3.Gain2), s.Hidden); err != nil {
		return b, err
	}
	for _, m := range []struct {
		to *decoder.Matrix
		of stacked
	}{
		{&b.QKV, stack(i, s.Hidden, rows(llama3.Q, s.Width()), rows(llama3.K, s.Slot()), rows(llama3.V, s.Slot()))},
		{&b.Out, stack(i, s.Width(), rows(llama3.O, s.Hidden))},
		{&b.GateUp, stack(i, s.Hidden, rows(llama3.Gate, s.MLP), rows(llama3.Up, s.MLP))},
		{&b.Down, stack(i, s.MLP, rows(llama3.Down, s.Hidden))},
	} {
		if *m.to, err = build(m.of); err != nil {
			return b, err
		}
	}
	return b, nil
}
