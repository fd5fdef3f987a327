package ways

import (
	w4a16 "flashlab/bonus/b8_w4a16"
	"flashlab/device"
	"flashlab/nn/half"
	"flashlab/nn/half/decoder"
)

// fours makes matrices of four bits.
type fours struct {
	*parts
	*arena
	laid    bool        // for several rows, and for a step as one kernel; one row else takes weights as they are
	scratch half.Halves // a whole matrix in halves: to quantise, and for prompts
	narrow  half.Halves // one whose rows end within a group, as it is; empty where none does
	inputs  half.Halves // [Rows, …], such a matrix's inputs, widened; empty, too
	unlaid  half.Four
	largest int
}

// whole is a row of so many weights in whole groups. Zeros fill up the last, in the weights and in what they multiply.
func whole(inputs int) int { return (inputs + w4a16.Group - 1) / w4a16.Group * w4a16.Group }

// begin makes room for the largest matrix in halves, and quantised.
func (f *fours) begin(w Workload) (err error) {
	widest, narrow := 0, 0
	for _, m := range [][2]int{{w.All(), w.Hidden}, {w.Hidden, w.Width()}, {2 * w.MLP, w.Hidden}, {w.Hidden, w.MLP}} {
		f.largest = max(f.largest, m[0]*whole(m[1]))
		if m[1] != whole(m[1]) {
			widest, narrow = max(widest, whole(m[1])), max(narrow, m[0]*m[1])
		}
	}
	if widest > 0 {
		if f.inputs, err = alloc[device.Float16](f.arena, "inputs of whole groups", w.Room().Rows*widest); err != nil {
			return err
		}
		if f.narrow, err = alloc[device.Float16](f.arena, "a matrix whose rows end within a group", narrow); err != nil {
			return err
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
	outputs, inputs := s.outputs(), whole(s.inputs)
	n := outputs * inputs
	w, err := f.scratch.Slice(0, n)
	if err != nil {
		return nil, err
	}
	if err := f.fill(w, from, s); err != nil {
		return nil, err
	}
	m := fourMatrix{parts: f.parts, scratch: w, inputs: s.inputs, wide: f.inputs, shape: w4a16.Shape{K: inputs, N: outputs}}
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

// fill writes a matrix in halves, in rows of whole groups.
func (f *fours) fill(to half.Halves, from source, s stacked) error {
	if s.inputs == whole(s.inputs) {
		return s.put(to, from)
	}
	n := s.outputs()
	narrow, err := f.narrow.Slice(0, n*s.inputs)
	if err != nil {
		return err
	}
	if err := s.put(narrow, from); err != nil {
		return err
	}
	return f.half.Widen(to, narrow, n, s.inputs, whole(s.inputs))
}

// end gives back what only quantising needed.
func (f *fours) end() error {
	var all []device.Memory
	if f.narrow.Len() > 0 {
		all = append(all, f.narrow.Memory())
	}
	if f.unlaid.Codes.Len() > 0 {
		all = append(all, f.unlaid.Codes.Memory(), f.unlaid.Scales.Memory(), f.unlaid.Zeros.Memory())
	}
	return f.free(all...)
}

func laid(w half.Four) w4a16.Laid {
	return w4a16.Laid{Codes: w.Codes, Scales: w.Scales, Zeros: w.Zeros}
}

// fourMatrix multiplies a step's rows by four bits, and a prompt's by halves, which it makes first.
type fourMatrix struct {
	*parts
	weights half.Four
	scratch half.Halves
	shape   w4a16.Shape // Rows apart; K in whole groups
	inputs  int         // K as the model has it
	wide    half.Halves // room for inputs of whole groups
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

// widened are inputs of whole groups.
func (m fourMatrix) widened(x half.Halves, rows int) (half.Halves, error) {
	if m.inputs == m.shape.K {
		return x, nil
	}
	wide, err := m.wide.Slice(0, rows*m.shape.K)
	if err != nil {
		return wide, err
	}
	return wide, m.half.Widen(wide, x, rows, m.inputs, m.shape.K)
}

// Times writes y [rows, N] = x [rows, inputs] · the weights' transpose.
func (m fourMatrix) Times(y, x half.Halves, rows int) error {
	x, err := m.widened(x, rows)
	if err != nil {
		return err
	}
	return m.times(y, x, rows)
}

// times is Times of inputs in whole groups.
func (m fourMatrix) times(y, x half.Halves, rows int) error {
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
	x, err := m.widened(x, rows)
	if err != nil {
		return err
	}
	if m.few(rows) {
		if err := m.times(both, x, rows); err != nil {
			return err
		}
		return m.half.SwiGLU(out, both, rows, width)
	}
	if err := m.half.Dequantise(m.scratch, m.weights, m.shape.N, m.shape.K); err != nil {
		return err
	}
	return m.half.Gated(out, both, x, m.scratch, rows, m.shape.K, width)
}
