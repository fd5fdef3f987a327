package shared

import (
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// Deviation is an attention with one thing done otherwise; the zero value is the
// right one. Feedback compares with those that students write by mistake.
type Deviation struct {
	Scale        func(dim int) float64             // of the scores; nil means 1/√dim
	Sees         func(s attn.Shape, i, j int) bool // nil means s.Sees
	Keys, Values []float32                         // in place of k and v
	Late         bool                              // masked after the softmax
	Forget       int                               // size of tiles of keys whose accumulator is not rescaled
	ForgetSum    int                               // the same of the sum
	Part         func(j, keys int) int             // of key j: each part is relative to its own largest score
	Mean         bool                              // of the parts, instead of the sum
	Undivided    bool                              // by the row's sum
	Pad          int                               // size of tiles of keys, of which the last is filled with scores and values of 0
}

func (c *Deviation) fill(k, v []float32, s attn.Shape) {
	if c.Scale == nil {
		c.Scale = func(dim int) float64 { return 1 / math.Sqrt(float64(dim)) }
	}
	if c.Sees == nil {
		c.Sees = attn.Shape.Sees
	}
	if c.Keys == nil {
		c.Keys = k
	}
	if c.Values == nil {
		c.Values = v
	}
	if c.Forget == 0 {
		c.Forget = s.SeqK // one tile: nothing to rescale
	}
	if c.ForgetSum == 0 {
		c.ForgetSum = s.SeqK
	}
}

// Attention64 is the attention of q [Batch, Heads, SeqQ, Dim] to k and v in
// float64. scale is, for each row of the output, what a rounding error of 1 in
// everything would come to: in the terms p·v, the size of the output if their
// signs were random; and in the scores, which large ones carry into the
// output of rows that do not belong to one key alone.
func Attention64(q, k, v []float32, s attn.Shape, c Deviation) (out, scale []float64) {
	c.fill(k, v, s)
	out = make([]float64, s.QElements())
	scale = make([]float64, s.QElements()/s.Dim)
	p := make([]float64, s.SeqK)
	size := make([]float64, s.SeqK)
	for row := range scale {
		i, keys := row%s.SeqQ, keysOf(s, row)
		if !c.weights(p, size, q[row*s.Dim:(row+1)*s.Dim], keys, i, s) {
			continue // sees nothing: zeros
		}
		y := out[row*s.Dim : (row+1)*s.Dim]
		c.mix(y, p, keys)
		var squares float64
		for j := range p {
			for x := range y {
				value := float64(c.Values[(keys+j)*s.Dim+x])
				term, shift := p[j]*value, p[j]*(value-y[x])*size[j]
				squares += term*term + shift*shift
			}
		}
		scale[row] = math.Sqrt(squares / float64(s.Dim))
	}
	return out, scale
}

// mix adds up the values, each by its share.
func (c Deviation) mix(y, p []float64, keys int) {
	for j := range p {
		for x := range y {
			y[x] += p[j] * float64(c.Values[(keys+j)*len(y)+x])
		}
	}
}

// weights are the shares of query i, and the size of the numbers that each comes
// from; false says that it sees no key.
func (c Deviation) weights(p, size []float64, q []float32, keys, i int, s attn.Shape) bool {
	largest := math.Inf(-1)
	for j := range p {
		p[j] = math.Inf(-1)
		if c.Late || c.Sees(s, i, j) {
			var dot, squares float64
			for x := range s.Dim {
				term := float64(q[x]) * float64(c.Keys[(keys+j)*s.Dim+x])
				dot += term
				squares += term * term
			}
			p[j] = dot * c.Scale(s.Dim)
			size[j] = math.Max(math.Abs(p[j]), math.Sqrt(squares)*c.Scale(s.Dim))
		}
		largest = math.Max(largest, p[j])
	}
	if math.IsInf(largest, -1) {
		return false
	}
	above, below := maxima(p, c.Forget), maxima(p, c.ForgetSum)
	if c.Part != nil {
		above = c.ownMaxima(p)
		below = above
	}
	var sum float64
	for j := range p {
		sum += exp(p[j] - below[j])
	}
	if c.Pad > 0 {
		sum += float64(beyond(len(p), c.Pad)) * math.Exp(-largest)
	}
	if c.Undivided {
		sum = 1
	}
	for j := range p {
		if p[j] = exp(p[j]-above[j]) / sum; !c.Sees(s, i, j) {
			p[j] = 0
		}
	}
	return true
}

// maxima are, for each score, the largest one up to the end of its tile.
func maxima(p []float64, tile int) []float64 {
	m := make([]float64, len(p))
	largest := math.Inf(-1)
	for first := 0; first < len(p); first += tile {
		end := min(first+tile, len(p))
		for _, score := range p[first:end] {
			largest = math.Max(largest, score)
		}
		for j := first; j < end; j++ {
			m[j] = largest
		}
	}
	return m
}

// ownMaxima are, for each score, the largest one of its part. For a mean the sum of
// the part's exponentials is in it.
func (c Deviation) ownMaxima(p []float64) []float64 {
	largest, sum := map[int]float64{}, map[int]float64{}
	for j, score := range p {
		part := c.Part(j, len(p))
		if before, seen := largest[part]; !seen || score > before {
			largest[part] = score
		}
	}
	for j, score := range p {
		part := c.Part(j, len(p))
		sum[part] += exp(score - largest[part])
	}
	m := make([]float64, len(p))
	for j := range p {
		part := c.Part(j, len(p))
		m[j] = largest[part]
		if c.Mean {
			m[j] += math.Log(sum[part])
		}
	}
	return m
}

// exp is 0 where there is nothing: -Inf minus -Inf.
func exp(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return math.Exp(x)
}

// Attention32 is the same in float32 throughout, in the plainest order.
func Attention32(q, k, v []float32, s attn.Shape) []float32 {
	factor := float32(1 / math.Sqrt(float64(s.Dim)))
	out := make([]float32, s.QElements())
	p := make([]float32, s.SeqK)
	for row := range len(out) / s.Dim {
		i, keys := row%s.SeqQ, keysOf(s, row)
		largest := float32(math.Inf(-1))
		for j := range p {
			p[j] = float32(math.Inf(-1))
			if !s.Sees(i, j) {
				continue
			}
			var dot float32
			for x := range s.Dim {
				dot += q[row*s.Dim+x] * k[(keys+j)*s.Dim+x]
			}
			p[j] = dot * factor
			largest = max(largest, p[j])
		}
		if math.IsInf(float64(largest), -1) {
			continue
		}
		var sum float32
		for j := range p {
			p[j] = float32(math.Exp(float64(p[j] - largest)))
			sum += p[j]
		}
		for j := range p {
			p[j] /= sum
			for x := range s.Dim {
				out[row*s.Dim+x] += p[j] * v[(keys+j)*s.Dim+x]
			}
		}
	}
	return out
}

// keysOf is the first key of a row of q, counted over all of k: query heads
// share key heads evenly, in order.
func keysOf(s attn.Shape, row int) int {
	head := row / s.SeqQ
	batch, head := head/s.Heads, head%s.Heads
	return (batch*s.KVHeads + head/(s.Heads/s.KVHeads)) * s.SeqK
}

// AttentionTruth is what an attention is judged by.
func AttentionTruth(q, k, v []float32, s attn.Shape) judge.Truth {
	want, scale := Attention64(q, k, v, s, Deviation{})
	return judge.Truth{Layout: judge.Layout{Outer: len(want) / s.Dim, Len: s.Dim, Inner: 1}, Want: want, Plain: Attention32(q, k, v, s), Scale: scale}
}
