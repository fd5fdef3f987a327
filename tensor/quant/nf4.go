package quant

import "math"

// NF4Block is how many elements share a scale. Blocks go through the matrix as if it had no rows.
const NF4Block = 64

// NF4Table are the sixteen numbers that an element may be, of a block whose largest magnitude is
// 1: quantiles of the normal distribution, so that each is about as frequent in weights, with 0
// itself among them. As published with QLoRA; the test has the formula.
var NF4Table = [16]float32{
	-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
	-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0,
	0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
	0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1,
}

// nf4Middles lie between two neighbours of the table.
var nf4Middles = func() (m [15]float32) {
	for i := range m {
		m[i] = float32((float64(NF4Table[i]) + float64(NF4Table[i+1])) / 2)
	}
	return m
}()

// NF4 is a tensor whose elements are a number of the table each, times their block's scale.
type NF4 struct {
	Count  int
	Codes  []byte    // two elements a byte, the first in the high half
	Scales []float32 // one a block: its largest magnitude; none if they are in Double
	Double *Double
}

// highFirst is how bitsandbytes puts NF4 into bytes.
var highFirst = halves{firstIsHigh: true}

// ToNF4 rounds a tensor as bitsandbytes does on a GPU: an element is multiplied by one over the
// scale, and takes the lower neighbour up to the middle between two. double has the scales
// quantised as well.
func ToNF4(x []float32, double bool) (NF4, error) {
	if err := finite(x); err != nil {
		return NF4{}, err
	}
	n := NF4{Count: len(x), Codes: make([]byte, bytesOf(len(x))), Scales: make([]float32, Blocks(len(x), len(x), NF4Block))}
	blocks(len(x), len(x), NF4Block, func(b, from, to int) {
		n.Scales[b] = magnitude(x[from:to])
		inverse := 1 / n.Scales[b] // infinite for a block of zeros, whose elements are 0 × ∞
		for i := from; i < to; i++ {
			highFirst.put(n.Codes, i, codeNF4(x[i]*inverse))
		}
	})
	if double {
		n.Double = toDouble(n.Scales)
		n.Scales = nil
	}
	return n, nil
}

// codeNF4 counts the middles below x; a NaN, of a block of zeros, counts as 0.
func codeNF4(x float32) int {
	if math.IsNaN(float64(x)) {
		x = 0
	}
	code := 0
	for _, middle := range nf4Middles {
		if x > middle {
			code++
		}
	}
	return code
}

// Numbers reads them all.
func (n NF4) Numbers() []float32 {
	scales := n.Scales
	if n.Double != nil {
		scales = n.Double.Numbers()
	}
	x := make([]float32, n.Count)
	blocks(n.Count, n.Count, NF4Block, func(b, from, to int) {
		for i := from; i < to; i++ {
			x[i] = NF4Table[highFirst.get(n.Codes, i)] * scales[b]
		}
	})
	return x
}

// Bytes is what a device holds of it, less the tables, which are everybody's.
func (n NF4) Bytes() int {
	if n.Double != nil {
		return len(n.Codes) + n.Double.Bytes()
	}
	return len(n.Codes) + 4*len(n.Scales)
}
