package judgetest

import (
	"math"

	"flashlab/attn"
)

// Arithmetic is how a kernel keeps its numbers.
type Arithmetic struct {
	Name    string
	product func(a, b float32) float32 // of two inputs, as the hardware rounds them
	keep    func(p float32) float32    // of a probability
	sum     func(s float32) float32    // of a running sum
}

func exact(v float32) float32 { return v }

func times(a, b float32) float32 { return a * b }

// bits keeps so many bits of the fraction, rounding to nearest.
func bits(v float32, n int) float32 {
	drop := 23 - n
	u := math.Float32bits(v)
	return math.Float32frombits((u + 1<<(drop-1)) &^ (1<<drop - 1))
}

func tf32(v float32) float32 { return bits(v, 10) }

// half also loses what is below the smallest float16.
func half(v float32) float32 {
	if v > -6e-8 && v < 6e-8 {
		return 0
	}
	return bits(v, 10)
}

// split multiplies in three products of 11-bit parts, as 3×TF32 does.
func split(a, b float32) float32 {
	aHigh, bHigh := tf32(a), tf32(b)
	aLow, bLow := tf32(a-aHigh), tf32(b-bHigh)
	return aHigh*bHigh + (aHigh*bLow + aLow*bHigh)
}

var Honest = []Arithmetic{
	{"float32", times, exact, exact},
	{"3×TF32", split, exact, exact},
}

var Dishonest = []Arithmetic{
	{"TF32", func(a, b float32) float32 { return tf32(a) * tf32(b) }, exact, exact},
	{"float16 inputs", func(a, b float32) float32 { return half(a) * half(b) }, exact, exact},
	{"float16 probabilities", times, half, exact},
	{"float16 sums", times, exact, half},
}

// Attention computes as the fused kernel does: tiles of keys, an
// online softmax in powers of two.
func (a Arithmetic) Attention(q, k, v []float32, s attn.Shape) []float32 {
	const tile = 64
	factor := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	out := make([]float32, s.QElements())
	for row := range len(out) / s.Dim {
		i, keys := row%s.SeqQ, row/s.SeqQ*s.SeqK
		largest, sum := float32(math.Inf(-1)), float32(0)
		acc := out[row*s.Dim : (row+1)*s.Dim]
		for key0 := 0; key0 < s.SeqK; key0 += tile {
			scores := make([]float32, min(tile, s.SeqK-key0))
			before := largest
			for j := range scores {
				scores[j] = float32(math.Inf(-1))
				if s.Sees(i, key0+j) {
					scores[j] = a.dot(q[row*s.Dim:(row+1)*s.Dim], k[(keys+key0+j)*s.Dim:], factor)
				}
				largest = max(largest, scores[j])
			}
			if math.IsInf(float64(largest), -1) {
				continue
			}
			rescale := exp2(before - largest)
			sum *= rescale
			for x := range acc {
				acc[x] *= rescale
			}
			for j, score := range scores {
				p := exp2(score - largest)
				sum += p
				for x := range acc {
					acc[x] = a.sum(acc[x] + a.product(a.keep(p), v[(keys+key0+j)*s.Dim+x]))
				}
			}
		}
		for x := range acc {
			if sum > 0 {
				acc[x] *= 1 / sum
			}
		}
	}
	return out
}

func (a Arithmetic) dot(q, k []float32, factor float32) float32 {
	var sum float32
	for x := range q {
		sum = a.sum(sum + a.product(q[x]*factor, k[x]))
	}
	return sum
}

// exp2 is two units in the last place off, as a GPU's may be.
func exp2(x float32) float32 { return float32(math.Exp2(float64(x))) * (1 + 2e-7) }

// Gemm computes with partial sums, as a kernel that splits K would.
func (a Arithmetic) Gemm(x, y []float32, s attn.GemmShape) []float32 {
	c := make([]float32, s.Batch*s.M*s.N)
	for i := range c {
		row, n := i/s.N, i%s.N
		batch := row / s.M
		var sums [4]float32
		for k := range s.K {
			at := (batch*s.K+k)*s.N + n
			if s.TransB {
				at = (batch*s.N+n)*s.K + k
			}
			sums[k%4] = a.sum(sums[k%4] + a.product(x[row*s.K+k], y[at]))
		}
		c[i] = sums[0] + sums[1] + (sums[2] + sums[3])
	}
	return c
}

// InParts is the attention of one query to k and v [keys, dim], whose keys are shared out in parts. Each has a maximum of its
// own, and they are merged, as kernels do. weight and value round what tensor cores take so; the output is not rounded.
func InParts(q, k, v []float32, parts int, weight, value func(float32) float32) []float32 {
	dim := len(q)
	n := len(k) / dim
	each := max((n+parts-1)/parts, 1)
	y, sum, largest := make([]float32, dim), float32(0), float32(math.Inf(-1))
	for first := 0; first < n; first += each {
		var scores []float32
		most := float32(math.Inf(-1))
		for j := first; j < min(first+each, n); j++ {
			var dot float32
			for x := range dim {
				dot += q[x] * k[j*dim+x]
			}
			scores = append(scores, dot*float32(math.Log2E/math.Sqrt(float64(dim))))
			most = max(most, scores[len(scores)-1])
		}
		own, weights := make([]float32, dim), float32(0)
		for j, score := range scores {
			e := float32(math.Exp2(float64(score - most)))
			weights += e
			for x := range dim {
				own[x] += weight(e) * value(v[(first+j)*dim+x])
			}
		}
		now := max(largest, most)
		a, b := float32(math.Exp2(float64(largest-now))), float32(math.Exp2(float64(most-now)))
		for x := range y {
			y[x] = y[x]*a + own[x]*b
		}
		sum, largest = sum*a+weights*b, now
	}
	for x := range y {
		if sum > 0 {
			y[x] /= sum
		}
	}
	return y
}
