package five

import (
	"fmt"
	"math"

	w4a16 "flashlab/bonus/b8_w4a16"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/half"
	"flashlab/nn/half/decoder"
	"flashlab/tensor"
)

// random are a model's weights from a seed, made on the device. Matrices keep the size of what passes
// through; those that add to x are smaller, so that it does not grow with the number of layers.
type random struct {
	layers *nn.Layers
	seed   uint64
	depth  int
}

// deviation is the standard deviation of tensor.Normal.
const deviation = 1.1547

// matrix fills w [outputs, inputs]. Each has its own stream.
func (r random) matrix(w half.Halves, stream, inputs int, residual bool) error {
	scale := 1 / (deviation * math.Sqrt(float64(inputs)))
	if residual {
		scale /= math.Sqrt(2 * float64(r.depth))
	}
	return r.layers.FillHalves(w, tensor.Normal, r.seed, uint32(stream), float32(scale))
}

// gains are around 1.
func (r random) gains(a *arena, stream, width int) (half.Halves, error) {
	x := make([]float32, width)
	if err := tensor.Fill(x, tensor.Normal, r.seed, uint32(stream), 0); err != nil {
		return half.Halves{}, err
	}
	bits := make([]device.Float16, width)
	for i, v := range x {
		bits[i] = device.ToFloat16(1 + 0.1*v)
	}
	b, err := alloc[device.Float16](a, "gains", width)
	if err != nil {
		return b, err
	}
	return b, b.CopyIn(a.device, bits)
}

// weights makes those of a way.
func (a *arena) weights(p *parts, w Workload, four bool) (decoder.Weights, error) {
	r, streams := random{p.nn, w.Seed, w.Layers}, 0
	stream := func() int { streams++; return streams }
	f := fours{parts: p, arena: a, rows: w.Batch}
	if four {
		if err := f.begin(w); err != nil {
			return decoder.Weights{}, err
		}
	}
	matrix := func(outputs, inputs int, residual bool) (decoder.Matrix, error) {
		if four {
			if err := r.matrix(f.place(outputs*inputs), stream(), inputs, residual); err != nil {
				return nil, err
			}
			return f.matrix(outputs, inputs)
		}
		b, err := alloc[device.Float16](a, "weights", outputs*inputs)
		if err != nil {
			return nil, err
		}
		return decoder.Dense{Layers: p.half, W: b, Inputs: inputs, Outputs: outputs}, r.matrix(b, stream(), inputs, residual)
	}
	var all decoder.Weights
	var err error
	for _, b := range []*half.Halves{&all.Embedding, &all.Head} {
		if *b, err = alloc[device.Float16](a, "tokens", w.Vocabulary*w.Hidden); err != nil {
			return all, err
		}
		inputs := 1 // of the embedding: its rows are as large as activations
		if b == &all.Head {
			inputs = w.Hidden
		}
		if err := r.matrix(*b, stream(), inputs, false); err != nil {
			return all, err
		}
	}
	for i := range w.Layers {
		var b decoder.Block
		for _, to := range []*half.Halves{&b.Norm1, &b.Norm2} {
			if *to, err = r.gains(a, stream(), w.Hidden); err != nil {
				return all, err
			}
		}
		for _, m := range []struct {
			to              *decoder.Matrix
			outputs, inputs int
			residual        bool
		}{{&b.QKV, w.All(), w.Hidden, false}, {&b.Out, w.Hidden, w.Width(), true}, {&b.GateUp, 2 * w.MLP, w.Hidden, false}, {&b.Down, w.Hidden, w.MLP, true}} {
			if *m.to, err = matrix(m.outputs, m.inputs, m.residual); err != nil {
				return all, fmt.Errorf("layer %d: %w", i, err)
			}
		}
		all.Blocks = append(all.Blocks, b)
	}
	if all.Norm, err = r.gains(a, stream(), w.Hidden); err != nil {
		return all, err
	}
	return all, f.end()
}

// fours makes matrices of four bits.
type fours struct {
	*parts
	*arena
	rows    int         // of a decoding step: one takes weights as they are, more take them laid
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
	if f.scratch, err = alloc[device.Float16](f.arena, "a matrix in halves", f.largest); err != nil || f.rows == 1 {
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

// place is where the next matrix is put.
func (f *fours) place(n int) half.Halves {
	b, _ := f.scratch.Slice(0, n) // at most the largest
	return b
}

// matrix quantises what place has, and lays it for several rows.
func (f *fours) matrix(outputs, inputs int) (decoder.Matrix, error) {
	n, w := outputs*inputs, f.place(outputs*inputs)
	m := fourMatrix{parts: f.parts, scratch: w, shape: w4a16.Shape{K: inputs, N: outputs}}
	var err error
	if f.rows == 1 {
		if m.weights, err = f.room(n); err != nil {
			return nil, err
		}
		return m, f.half.Quantise(m.weights, w, outputs, inputs)
	}
	from := half.Four{}
	from.Codes, _ = f.unlaid.Codes.Slice(0, n/2)
	from.Scales, _ = f.unlaid.Scales.Slice(0, n/w4a16.Group)
	from.Zeros, _ = f.unlaid.Zeros.Slice(0, n/w4a16.Group)
	if err := f.half.Quantise(from, w, outputs, inputs); err != nil {
		return nil, err
	}
	if m.weights, err = f.room(m.shape.Tiles() * w4a16.Tall * inputs); err != nil {
		return nil, err
	}
	m.weights.Laid = true
	return m, f.four.Lay(laid(m.weights), w4a16.Weights{Codes: from.Codes, Scales: from.Scales, Zeros: from.Zeros}, m.shape)
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

func (m fourMatrix) Times(y, x half.Halves, rows int) error {
	s := m.shape
	s.Rows = rows
	switch {
	case m.weights.Laid && rows <= w4a16.MostRows:
		return m.four.Rows(y, x, laid(m.weights), s)
	case !m.weights.Laid && rows == 1:
		return m.four.Row(y, x, w4a16.Weights{Codes: m.weights.Codes, Scales: m.weights.Scales, Zeros: m.weights.Zeros}, s)
	}
	if err := m.half.Dequantise(m.scratch, m.weights, s.N, s.K); err != nil {
		return err
	}
	return m.half.Linear(y, x, m.scratch, rows, s.K, s.N)
}
