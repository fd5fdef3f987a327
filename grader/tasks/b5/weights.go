package b5

import (
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// format is one of the three. Codes travel as pairs of int4, of which only the bits count; so do NVFP4's scales.
type format struct {
	name  string // in operations and methods: nf4
	title string // in words: NF4
	block int
	scale tensor.Type
}

var (
	nf4   = format{"nf4", "NF4", quant.NF4Block, tensor.Float32}
	mxfp4 = format{"mxfp4", "MXFP4", quant.MXFP4Block, tensor.E8M0}
	nvfp4 = format{"nvfp4", "NVFP4", quant.NVFP4Block, tensor.Int4}
)

// isNF4 tells it from the two of E2M1, and isNVFP4 these apart.
func (f format) isNF4() bool   { return f.block == quant.NF4Block }
func (f format) isNVFP4() bool { return f.block == quant.NVFP4Block }

// weights are some numbers of a format as a device holds them.
type weights struct {
	format
	count, row int
	codes      []byte
	scales     []float32 // what a scale's bits say
	tensor     float32   // NVFP4's one scale for all; 1 elsewhere
}

// blocks is how many there are. NF4's go through the matrix as if it had no rows.
func (f format) blocks(count, row int) int {
	if f.isNF4() {
		row = count
	}
	return quant.Blocks(count, row, f.block)
}

// tensors are the codes and scales of so many numbers; a last byte may be half full.
func (f format) tensors(count, row int) []problem.Tensor {
	codes := problem.Tensor{Name: "codes", Shape: []int{(count + 1) / 2 * 2}, Type: tensor.Int4, Given: true}
	scales := problem.Tensor{Name: "scales", Shape: []int{f.blocks(count, row)}, Type: f.scale, Given: true}
	if !f.isNVFP4() {
		return []problem.Tensor{codes, scales}
	}
	scales.Shape[0] *= 2 // two int4 a byte
	return []problem.Tensor{codes, scales, {Name: "tensor", Shape: []int{1}, Given: true}}
}

// of reads the tensors of a format.
func (f format) of(in [][]float32, count, row int) weights {
	w := weights{f, count, row, tensor.Int4.Encode(in[0]), in[1], 1}
	if f.isNVFP4() {
		w.scales, w.tensor = nil, in[2][0]
		for _, b := range tensor.Int4.Encode(in[1]) {
			w.scales = append(w.scales, quant.FromE4M3(b))
		}
	}
	return w
}

// numbers are what the weights are, by the course's own reader.
func (w weights) numbers() []float32 {
	if w.isNF4() {
		return quant.NF4{Count: w.count, Codes: w.codes, Scales: w.scales}.Numbers()
	}
	if w.isNVFP4() {
		return w.exactly()
	}
	return quant.MXFP4{Count: w.count, Row: w.row, Codes: w.codes, Scales: tensor.E8M0.Encode(w.scales)}.Numbers()
}

// code is that of number i, and scaleOf the block's.
func (w weights) code(i int) int {
	if (i%2 == 0) == w.isNF4() {
		return int(w.codes[i/2] >> 4)
	}
	return int(w.codes[i/2] & 15)
}

func (w weights) blockOf(i int) int {
	if w.isNF4() {
		return i / w.block
	}
	return i/w.row*((w.row+w.block-1)/w.block) + i%w.row/w.block
}

// number is that of a code.
func (f format) number(code int) float32 {
	if f.isNF4() {
		return quant.NF4Table[code&15]
	}
	return quant.FromE2M1(code)
}

// otherwise reads the weights with one thing wrong: each of the functions is nil where it is right.
func (w weights) otherwise(code func(i int) int, block func(i int) int, number func(code int) float32, scale func(s float32) float32) []float32 {
	if code == nil {
		code = w.code
	}
	if block == nil {
		block = w.blockOf
	}
	if number == nil {
		number = w.number
	}
	if scale == nil {
		scale = func(s float32) float32 { return s }
	}
	x := make([]float32, w.count)
	for i := range x {
		b := min(max(block(i), 0), len(w.scales)-1)
		x[i] = number(code(i)) * scale(w.scales[b]) * w.tensor
	}
	return x
}

// misreadings are ways to read any weights that one gets by mistake: what the numbers are then.
func (w weights) misreadings() []judge.Mistake {
	order := "the first of a byte's two numbers is in its high half"
	if !w.isNF4() {
		order = "the first of a byte's two numbers is in its low half"
	}
	swapped := func(i int) int {
		if (i%2 == 0) == w.isNF4() {
			return int(w.codes[i/2] & 15)
		}
		return int(w.codes[i/2] >> 4)
	}
	read := func(says string, code, block func(i int) int, number func(int) float32, scale func(float32) float32) judge.Mistake {
		return judge.Wrong(func() []float64 { return judge.Wide(w.otherwise(code, block, number, scale)) }, says)
	}
	other := map[int]int{quant.NF4Block: quant.MXFP4Block, quant.MXFP4Block: quant.NF4Block, quant.NVFP4Block: quant.MXFP4Block}[w.block]
	neighbour := func(by int) func(i int) int { return func(i int) int { return w.blockOf(i) + by } }
	table := func(by int) func(int) float32 { return func(code int) float32 { return w.number(code + by) } }
	all := []judge.Mistake{
		read("the halves of each byte are swapped: in "+w.title+" "+order, swapped, nil, nil, nil),
		read("each block has the scale of the block behind it: number i of a row has that of block i / "+of(w.block), nil, neighbour(1), nil, nil),
		read("each block has the scale of the block before it: number i of a row has that of block i / "+of(w.block), nil, neighbour(-1), nil, nil),
		read("every number has the first block's scale", nil, func(i int) int { return 0 }, nil, nil),
		read("the table is off by one: code 0 is its first number", nil, nil, table(1), nil),
		read("the table is off by one: code 0 is its first number", nil, nil, table(-1), nil),
		read("the numbers are not multiplied by their block's scale", nil, nil, nil, func(float32) float32 { return 1 }),
		read("blocks have another format's length: those of "+w.title+" have "+of(w.block)+" numbers",
			nil, func(i int) int { return i / other }, nil, nil),
	}
	if rows := w.count / w.row; rows > 1 && len(w.scales)%rows == 0 {
		all = append(all, read("blocks lie along the wrong axis: a block is "+of(w.block)+" numbers of one row, and a row's scales are neighbours",
			nil, func(i int) int { return i%w.row/w.block*rows + i/w.row }, nil, nil))
	}
	if w.isNF4() {
		return append(all, read("these are E2M1's numbers: NF4's codes are places in its table of sixteen", nil, nil, quant.FromE2M1, nil))
	}
	all = append(all,
		read("blocks go through the matrix as if it had no rows: in "+w.title+" each row begins a block of its own",
			nil, func(i int) int { return i / w.block }, nil, nil),
		read("these are NF4's numbers: "+w.title+"'s codes are E2M1, a sign, two bits of exponent and one of fraction",
			nil, nil, func(c int) float32 { return quant.NF4Table[c&15] }, nil),
		read("codes are read as integers: E2M1 is a sign, two bits of exponent and one of fraction",
			nil, nil, func(c int) float32 { return float32(c << 28 >> 28) }, nil))
	by := func(e int) func(float32) float32 {
		return func(s float32) float32 { return float32(math.Ldexp(float64(s), e)) }
	}
	is := "E8M0 is 2^(code − 127)"
	if w.isNVFP4() {
		is = "E4M3's exponent is less 7, and the tensor's scale counts once"
		all = append(all, w.misreadTwoLevels()...)
	}
	return append(all,
		read("scales are twice what they should be: "+is, nil, nil, nil, by(1)),
		read("scales are half of what they should be: "+is, nil, nil, nil, by(-1)))
}
