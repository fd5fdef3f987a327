package task6

import (
	"math"

	"flashlab/attn"
	"flashlab/grader/tasks/shared"
)

// Layer is the attention of one layer of a model, on one sequence: its weights
// are q, k and v [Heads × Dim, Hidden] and out [Hidden, Heads × Dim]. Biases may
// be nil.
type Layer struct {
	Hidden, Heads, Dim int
	Rotary             float64 // RoPE's base; 0 for none
	Q, K, V, Out       []float32
	QB, KB, VB, OutB   []float32
	Tint               []float32 // the factors of each head's Dim results (package tint); nil for none
}

// Slip is a layer with something done otherwise; the zero value is the right
// one. Tokens are counted from the start of the sequence.
type Slip struct {
	Sees       func(i, j int) bool // which keys token i sees; nil is j ≤ i
	Position   func(i int) int     // for RoPE; nil is i
	KeyAsValue func(i int) bool    // whether token i takes the keys for values
	Unsplit    int                 // so many first tokens are in rows, but are read as if they were by heads
	Unmerged   int                 // so many first tokens' results are left by heads
	Swapped    bool                // keys are taken for values, and values for keys
	NoOut      bool                // the projection to the output is left out
}

// project makes q, k and v [n, Heads × Dim] of x, rotated.
func project[T Real](l Layer, x []T, s Slip) (q, k, v []T) {
	n, width := len(x)/l.Hidden, l.Heads*l.Dim
	q, k, v = Affine(x, l.Q, l.QB, l.Hidden), Affine(x, l.K, l.KB, l.Hidden), Affine(x, l.V, l.VB, l.Hidden)
	for i := range n {
		if l.Rotary == 0 {
			break
		}
		position := i
		if s.Position != nil {
			position = s.Position(i)
		}
		rotate(q[i*width:(i+1)*width], l.Dim, position, l.Rotary)
		rotate(k[i*width:(i+1)*width], l.Dim, position, l.Rotary)
	}
	return q, k, v
}

// Forward computes the layer for all tokens of a sequence at once, x [n, Hidden]:
// there is no cache that could be wrong.
func Forward[T Real](l Layer, x []T, s Slip) []T {
	n, width := len(x)/l.Hidden, l.Heads*l.Dim
	q, k, v := project(l, x, s)
	if s.Swapped {
		k, v = v, k
	}
	y := make([]T, n*width)
	for i := range n {
		values, unsplit := v, 0
		if s.KeyAsValue != nil && s.KeyAsValue(i) {
			values = k
		}
		if i < s.Unsplit {
			unsplit = s.Unsplit
		}
		for h := range l.Heads {
			from := func(j int) int { return l.offset(h, j, unsplit) }
			to := l.offset(h, i, s.Unmerged)
			attend(y[to:to+l.Dim], q[from(i):], k, values, n, from, func(j int) bool { return s.sees(i, j) })
			for d, factor := range l.Tint {
				y[to+d] *= T(factor)
			}
		}
	}
	if s.NoOut {
		return y
	}
	return Affine(y, l.Out, l.OutB, width)
}

// Scale is what the rounding errors of each token's output are relative to: the
// size that it would have if the signs of its terms were random. A mix of many
// values may be small by cancelling, and its errors are not.
func (l Layer) Scale(x []float64) []float64 {
	n, width := len(x)/l.Hidden, l.Heads*l.Dim
	q, k, v := project(l, x, Slip{})
	byHeads := func(x []float64) []float32 {
		y := make([]float32, len(x))
		for i := range x {
			row, h, d := i/width, i%width/l.Dim, i%l.Dim
			y[(h*n+row)*l.Dim+d] = float32(x[i])
		}
		return y
	}
	shape := attn.Shape{Batch: 1, Heads: l.Heads, KVHeads: l.Heads, SeqQ: n, SeqK: n, Dim: l.Dim, Causal: true}
	_, heads := shared.Attention64(byHeads(q), byHeads(k), byHeads(v), shape, shared.Deviation{})
	scale := make([]float64, n)
	for i := range scale {
		var squares float64
		for at, weight := range l.Out {
			term := float64(weight) * heads[at%width/l.Dim*n+i]
			if l.Tint != nil {
				term *= float64(l.Tint[at%l.Dim])
			}
			squares += term * term
		}
		scale[i] = math.Sqrt(squares / float64(l.Hidden))
	}
	return scale
}

func (s Slip) sees(i, j int) bool {
	if s.Sees != nil {
		return s.Sees(i, j)
	}
	return j <= i
}

// offset is where head h of token i begins: in rows of tokens, but for the first
// so many, which are by heads.
func (l Layer) offset(h, i, byHeads int) int {
	if i < byHeads {
		return (h*byHeads + i) * l.Dim
	}
	return (i*l.Heads + h) * l.Dim
}

// attend is one head of one token's attention, to those of n keys that it sees;
// from tells where a key begins, and its value. Without any, y stays 0.
func attend[T Real](y, q, k, v []T, n int, from func(j int) int, sees func(j int) bool) {
	dim := len(y)
	factor := T(1 / math.Sqrt(float64(dim)))
	p := make([]T, n)
	largest := T(math.Inf(-1))
	for j := range n {
		p[j] = T(math.Inf(-1))
		if !sees(j) {
			continue
		}
		var dot T
		for x, key := range k[from(j) : from(j)+dim] {
			dot += q[x] * key
		}
		p[j] = dot * factor
		largest = max(largest, p[j])
	}
	if math.IsInf(float64(largest), -1) {
		return
	}
	var sum T
	for j := range p {
		p[j] = T(math.Exp(float64(p[j] - largest)))
		sum += p[j]
	}
	for j := range p {
		if p[j] == 0 {
			continue // not seen: its value may be anything
		}
		for x, value := range v[from(j) : from(j)+dim] {
			y[x] += p[j] / sum * value
		}
	}
}
