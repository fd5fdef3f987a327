package ways

import (
	"errors"
	"fmt"

	w4a16 "flashlab/bonus/b8_w4a16"
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

// fours makes matrices of four bits.
type fours struct {
	*parts
	*arena
	laid    bool        // for several rows, and for a step as one kernel; one row else takes weights as they are
	scratch half.Halves // a whole matrix in halves: to quantise, and for prompts
	unlaid  half.Four
	largest int
}

// begin makes room for the largest matrix in halves, and quantised.
func (f *fours) begin(w Workload) (err error) {
	for _, m := range [][2]int{{w.All(), w.Hidden}, {w.Hidden, w.Width()}, {2 * w.MLP, w.Hidden}, {w.Hidden, w.MLP}} {
		f.largest = max(f.largest, m[0]*m[1])
		if m[1]%w4a16.Group != 0 {
			return fmt.Errorf("a matrix [%d, %d] cannot have four bits: its rows must be whole groups of %d", m[0], m[1], w4a16.Group)
		}
	}
	if f.scratch, err = alloc[device.Float16](f.arena, "a matrix in halves", f.largest); err != nil || !f.laid {
		return err
	}
	f.unlaid, err = f.room(f.largest)
	return err
}

// room is for so many weights.
func (f *fours) room(n int) (x half.Four, err error) {
	if x.Codes, err = alloc[uint8](f.arena, "codes", n/2); err != nil {
		return x, err
	}
	if x.Scales, err = alloc[device.Float16](f.arena, "scales", n/w4a16.Group); err != nil {
		return x, err
	}
	x.Zeros, err = alloc[uint8](f.arena, "zeros", n/w4a16.Group)
	return x, err
}

// matrix quantises one, and lays it for several rows.
func (f *fours) matrix(from source, s stacked) (decoder.Matrix, error) {
	outputs, inputs := s.outputs(), s.inputs
	n := outputs * inputs
	w, err := f.scratch.Slice(0, n)
	if err != nil {
		return nil, err
	}
	if err := s.put(w, from); err != nil {
		return nil, err
	}
	m := fourMatrix{parts: f.parts, scratch: w, shape: w4a16.Shape{K: inputs, N: outputs}}
	if !f.laid {
		if m.weights, err = f.room(n); err != nil {
			return nil, err
		}
		return m, f.half.Quantise(m.weights, w, outputs, inputs)
	}
	plain := half.Four{}
	plain.Codes, _ = f.unlaid.Codes.Slice(0, n/2)
	plain.Scales, _ = f.unlaid.Scales.Slice(0, n/w4a16.Group)
	plain.Zeros, _ = f.unlaid.Zeros.Slice(0, n/w4a16.Group)
	if err := f.half.Quantise(plain, w, outputs, inputs); err != nil {
		return nil, err
	}
	if m.weights, err = f.room(m.shape.Tiles() * w4a16.Tall * inputs); err != nil {
		return nil, err
	}
	m.weights.Laid = true
	return m, f.four.Lay(laid(m.weights), w4a16.Weights{Codes: plain.Codes, Scales: plain.Scales, Zeros: plain.Zeros}, m.shape)
}

// end gives back what only quantising needed.
func (f *fours) end() error {
	if f.unlaid.Codes.Len() == 0 {
		return nil
	}
	return f.free(f.unlaid.Codes.Memory(), f.unlaid.Scales.Memory(), f.unlaid.Zeros.Memory())
}

func laid(w half.Four) w4a16.Laid {
	return w4a16.Laid{Codes: w.Codes, Scales: w.Scales, Zeros: w.Zeros}
}

// fourMatrix multiplies a step's rows by four bits, and a prompt's by halves, which it makes first.
type fourMatrix struct {
	*parts
	weights half.Four
	scratch half.Halves
	shape   w4a16.Shape // Rows apart
}

// Four is what a step as one kernel reads.
func (m fourMatrix) Four() half.Four { return m.weights }

// few tells whether rows are multiplied by four bits.
func (m fourMatrix) few(rows int) bool {
	if m.weights.Laid {
		return rows <= w4a16.MostRows
	}
	return rows == 1
}

func (m fourMatrix) Times(y, x half.Halves, rows int) error {
	s := m.shape
	s.Rows = rows
	switch {
	case m.few(rows) && m.weights.Laid:
		return m.four.Rows(y, x, laid(m.weights), s)
	case m.few(rows):
		return m.four.Row(y, x, w4a16.Weights{Codes: m.weights.Codes, Scales: m.weights.Scales, Zeros: m.weights.Zeros}, s)
	}
	if err := m.half.Dequantise(m.scratch, m.weights, s.N, s.K); err != nil {
		return err
	}
	return m.half.Linear(y, x, m.scratch, rows, s.K, s.N)
}

// Gated multiplies a gate's weights and as many others, and gates.
func (m fourMatrix) Gated(out, both, x half.Halves, rows int) error {
	width := m.shape.N / 2
	if m.few(rows) {
		if err := m.Times(both, x, rows); err != nil {
			return err
		}
		return m.half.SwiGLU(out, both, rows, width)
	}
	if err := m.half.Dequantise(m.scratch, m.weights, m.shape.N, m.shape.K); err != nil {
		return err
	}
	return m.half.Gated(out, both, x, m.scratch, rows, m.shape.K, width)
}
