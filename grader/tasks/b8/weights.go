package b8

import (
	"fmt"
	"math"
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// What the format and the order of fragments are made of.
const (
	group = quant.INT4Group // numbers along k that share a scale and a zero
	tall  = 16              // outputs of a tile
	piece = 64              // numbers along k that a lane's 16 bytes are from
)

// weights are those of some outputs, as they are: codes two a byte, the first in the low half.
type weights struct {
	k, n   int
	codes  []byte
	scales []float32
	zeros  []float32
}

// factors is how many scales and zeros there are.
func factors(k, n int) int { return n * (k / group) }

// tensorsOf are codes, scales and zeros, laid or not. Codes travel as pairs of int4, of which only the bits count.
func tensorsOf(k, n int, prefix string) []problem.Tensor {
	return []problem.Tensor{
		{Name: prefix + "codes", Shape: []int{n, k}, Type: tensor.Int4, Given: true},
		{Name: prefix + "scales", Shape: []int{n, k / group}, Type: tensor.Float16, Given: true},
		{Name: prefix + "zeros", Shape: []int{n, k / group}, Type: tensor.Int8, Given: true},
	}
}

func weightsOf(k, n int, codes, scales, zeros []float32) weights {
	return weights{k, n, tensor.Int4.Encode(codes), scales, zeros}
}

// code is number i of output o.
func (w weights) code(o, i int) int {
	at := o*w.k + i
	return int(w.codes[at/2]>>(at%2*4)) & 15
}

// zero is the low half of a byte, which travels as a signed number.
func (w weights) zero(g int) float32 { return float32(int(w.zeros[g]) & 15) }

func (w weights) groupOf(o, i int) int { return o*(w.k/group) + i/group }

// reading is a way to read weights. What is nil is read as it should be.
type reading struct {
	code  func(o, i int) int
	group func(o, i int) int
	zero  func(g int) float32
	scale func(s float32) float32
}

// numbers are what the weights are: a code less the zero has five bits, a scale eleven, so float32
// holds their product.
func (w weights) numbers(r reading) []float32 {
	if r.code == nil {
		r.code = w.code
	}
	if r.group == nil {
		r.group = w.groupOf
	}
	if r.zero == nil {
		r.zero = w.zero
	}
	if r.scale == nil {
		r.scale = func(s float32) float32 { return s }
	}
	x := make([]float32, w.n*w.k)
	for o := range w.n {
		for i := range w.k {
			g := min(max(r.group(o, i), 0), len(w.scales)-1)
			x[o*w.k+i] = (float32(r.code(o, i)) - r.zero(g)) * r.scale(w.scales[g])
		}
	}
	return x
}

// place is where the code of output o and number i lies in the order of fragments, counted in codes:
// tiles of 16 outputs, in them pieces of 64 numbers, in these 16 bytes for each lane.
func place(k, o, i int) int {
	word, nibble := placeInWord(o%tall, i%piece)
	lane := o%8*4 + i%32/8
	return ((o/tall*(k/piece)+i/piece)*32+lane)*32 + word*8 + nibble
}

// placeInWord is the word of a lane's four, and the place in it: codes that become one register of
// halves are 16 bits apart.
func placeInWord(o, i int) (word, nibble int) {
	return i/32*2 + i%8/4, i%2*4 + i%4/2*2 + o/8
}

// factorPlace is where the scale and the zero of output o and group g lie: rows r and r + 8 of a tile are neighbours.
func factorPlace(k, o, g int) int {
	return (o/tall*(k/group)+g)*tall + o%8*2 + o%tall/8
}

// padded is how many outputs laid weights have: whole tiles.
func padded(n int) int { return (n + tall - 1) / tall * tall }

// laid are the weights in the order of fragments. Outputs behind the last one have codes, scales and zeros of 0.
func (w weights) laid() weights { return w.laidBy(place, factorPlace) }

func (w weights) laidBy(place, factorPlace func(k, o, i int) int) weights {
	n := padded(w.n)
	to := weights{w.k, n, make([]byte, n*w.k/2), make([]float32, factors(w.k, n)), make([]float32, factors(w.k, n))}
	for o := range w.n {
		for i := range w.k {
			at := place(w.k, o, i)
			to.codes[at/2] |= byte(w.code(o, i)) << (at % 2 * 4)
		}
		for g := range w.k / group {
			from, at := o*(w.k/group)+g, factorPlace(w.k, o, g)
			to.scales[at], to.zeros[at] = w.scales[from], w.zeros[from]
		}
	}
	return to
}

// unlaid are n outputs of laid weights, as they were.
func (w weights) unlaid(n int) weights {
	to := weights{w.k, n, make([]byte, n*w.k/2), make([]float32, factors(w.k, n)), make([]float32, factors(w.k, n))}
	for o := range n {
		for i := range w.k {
			at := place(w.k, o, i)
			to.codes[(o*w.k+i)/2] |= w.codes[at/2] >> (at % 2 * 4) & 15 << (i % 2 * 4)
		}
		for g := range w.k / group {
			from, at := factorPlace(w.k, o, g), o*(w.k/group)+g
			to.scales[at], to.zeros[at] = w.scales[from], w.zeros[from]
		}
	}
	return to
}

// trained are weights of a trained layer: normal numbers, rounded. Numbers grow along a row and from
// row to row, and every other group is off 0, so that each group's scale and zero are its own.
func trained(c problem.Problem, k, n int) (weights, error) {
	x := make([]float32, n*k)
	if err := tensor.Fill(x, tensor.Normal, c.Seed, c.Inputs[len(c.Inputs)-1].Stream, 0); err != nil {
		return weights{}, err
	}
	for at := range x {
		o, g := at/k, at%k/group
		x[at] = (x[at] + float32((o+3*g)%5-2)*0.5) * float32((1+float64(g%7)/2+float64(o%11)/4)/math.Sqrt(float64(k)))
	}
	q, err := quant.ToINT4(x, k, true)
	if err != nil {
		return weights{}, err
	}
	zeros := make([]float32, len(q.Zeros))
	for i, z := range q.Zeros {
		zeros[i] = float32(int8(z | byte(i*7+i/16)<<4)) // what is in the other half does not count
	}
	return weights{k, n, q.Codes, q.Scales, zeros}, nil
}

// put copies weights to inputs.
func (w weights) put(in []*tensor.Tensor) {
	copy(in[0].Data, tensor.Int4.Decode(w.codes))
	copy(in[1].Data, w.scales)
	copy(in[2].Data, w.zeros)
}

// misreadings are ways to read any weights that one gets by mistake: what the numbers are then.
func (w weights) misreadings() []judge.Mistake {
	groups := w.k / group
	neighbour := func(by int) func(o, i int) int { return func(o, i int) int { return w.groupOf(o, i) + by } }
	zero := func(of func(z float32) float32) func(int) float32 {
		return func(g int) float32 { return of(w.zero(g)) }
	}
	right := fmt.Sprintf("number i of an output has that of its group i / %d", group)
	read := func(r reading, says string) judge.Mistake {
		return judge.Wrong(func() []float64 { return judge.Wide(w.numbers(r)) }, says)
	}
	all := []judge.Mistake{
		read(reading{code: func(o, i int) int { return w.code(o, i^1) }}, "the halves of each byte are swapped: the first of its two numbers is in its low half"),
		read(reading{group: neighbour(1)}, "each group has the scale and the zero of the group behind it: "+right),
		read(reading{group: neighbour(-1)}, "each group has the scale and the zero of the group before it: "+right),
		read(reading{group: func(o, i int) int { return o * groups }}, "every number has the scale and the zero of its output's first group"),
		read(reading{group: func(o, i int) int { return i/group*w.n + o }}, "scales and zeros are read along the wrong axis: those of one output are neighbours"),
		read(reading{group: func(o, i int) int { return o*groups + min(i/(group/2), groups-1) }}, fmt.Sprintf("groups are taken for half as long as they are: they have %d numbers", group)),
		read(reading{zero: zero(func(float32) float32 { return 0 })}, "the zero is not subtracted: a weight is (code − zero) · scale"),
		read(reading{zero: zero(func(float32) float32 { return quant.Symmetric })}, "every group is read as if its zero were 8: it has one of its own"),
		read(reading{zero: zero(func(z float32) float32 { return z + 1 })}, "the zero is off by one: one too many is subtracted from every code"),
		read(reading{zero: zero(func(z float32) float32 { return z - 1 })}, "the zero is off by one: one too few is subtracted from every code"),
		read(reading{zero: zero(func(z float32) float32 { return -z })}, "the zero is added: a weight is (code − zero) · scale"),
		read(reading{zero: func(g int) float32 { return float32(uint8(w.zeros[g])) }}, "all of a zero's byte is read: only its low half counts"),
		read(reading{code: func(o, i int) int { return w.code(o, i) << 28 >> 28 }}, "codes are read as signed numbers: they are 0 … 15"),
		read(reading{scale: func(float32) float32 { return 1 }}, "the numbers are not multiplied by their group's scale"),
	}
	// Of small weights some are the same as the right reading.
	truth := judge.Wide(w.numbers(reading{}))
	return slices.DeleteFunc(all, func(m judge.Mistake) bool { return slices.Equal(m.Whole(), truth) })
}
