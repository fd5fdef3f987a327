package shared

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// Mixed is an attention whose probabilities and output are of 16 bits, and whose sums are not.
type Mixed struct {
	S       attn.Shape
	Type    tensor.Type
	Q, K, V []float32
	// Score is q·k/√dim of a row of q and its key of that number, where it is exact in another way
	// than by Q and K; nil is by these.
	Score func(row, key int) float64
}

func (a Mixed) String() string { return fmt.Sprintf("%v, %v", a.S, a.Type) }

// Way is how a kernel keeps its numbers; nil is float32.
type Way struct {
	Score, P, Sum, Out func(x float32) float32
}

// Rounder rounds single numbers to a type.
func Rounder(ty tensor.Type) func(float32) float32 {
	return func(x float32) float32 {
		one := [1]float32{x}
		ty.Round(one[:])
		return one[0]
	}
}

// PlainWay rounds what has to be of 16 bits, once: probabilities, which the tensor cores take so, and
// the output.
func PlainWay(ty tensor.Type) Way { return Way{P: Rounder(ty), Out: Rounder(ty)} }

// Compute is the attention in one way, in the plainest order. The probabilities' sum is of those that
// are not rounded.
func (a Mixed) Compute(w Way) []float32 {
	for _, f := range []*func(float32) float32{&w.Score, &w.P, &w.Sum, &w.Out} {
		if *f == nil {
			*f = func(x float32) float32 { return x }
		}
	}
	s, dim := a.S, a.S.Dim
	factor := float32(1 / math.Sqrt(float64(dim)))
	out, p := make([]float32, s.QElements()), make([]float32, s.SeqK)
	for row := range len(out) / dim {
		i, keys := row%s.SeqQ, keysOf(s, row)
		largest, sum := float32(math.Inf(-1)), float32(0)
		for j := range p {
			p[j] = float32(math.Inf(-1))
			if !s.Sees(i, j) {
				continue
			}
			if a.Score != nil {
				p[j] = w.Score(float32(a.Score(row, j)))
			} else {
				var dot float32
				for x := range dim {
					dot = w.Sum(dot + a.Q[row*dim+x]*a.K[(keys+j)*dim+x])
				}
				p[j] = w.Score(dot * factor)
			}
			largest = max(largest, p[j])
		}
		if math.IsInf(float64(largest), -1) {
			continue // sees nothing: zeros
		}
		y := out[row*dim : (row+1)*dim]
		for j := range p {
			e := float32(math.Exp(float64(p[j] - largest)))
			sum += e
			if e = w.P(e); e == 0 {
				continue
			}
			for x := range y {
				y[x] = w.Sum(y[x] + e*a.V[(keys+j)*dim+x])
			}
		}
		for x := range y {
			y[x] = w.Out(y[x] / sum)
		}
	}
	return out
}

// Truth is what an output is judged by. A row's scale is what rounding errors of 1 would come to, in
// each product with a value, and in the output: values of other signs make that no smaller. Scores
// are in float32, so their errors are nothing beside these.
func (a Mixed) Truth() judge.Truth {
	want, squares := a.exact()
	dim := a.S.Dim
	scale := make([]float64, len(want)/dim)
	for row := range scale {
		for _, y := range want[row*dim : (row+1)*dim] {
			squares[row] += y * y
		}
		scale[row] = math.Sqrt(squares[row] / float64(dim))
	}
	return judge.Truth{Layout: judge.Layout{Outer: len(scale), Len: dim, Inner: 1}, Type: a.Type,
		Want: want, Plain: a.Compute(PlainWay(a.Type)), Scale: scale}
}

// exact is the attention in float64, and for each row the sum of the squares of p · v.
func (a Mixed) exact() (out, squares []float64) {
	s, dim := a.S, a.S.Dim
	out, squares = make([]float64, s.QElements()), make([]float64, s.QElements()/dim)
	p := make([]float64, s.SeqK)
	for row := range squares {
		i, keys, largest, sum := row%s.SeqQ, keysOf(s, row), math.Inf(-1), 0.0
		for j := range p {
			p[j] = math.Inf(-1)
			if s.Sees(i, j) {
				p[j] = a.score(row, j)
			}
			largest = max(largest, p[j])
		}
		if math.IsInf(largest, -1) {
			continue
		}
		for j := range p {
			p[j] = math.Exp(p[j] - largest)
			sum += p[j]
		}
		for j := range p {
			for x := range dim {
				term := p[j] / sum * float64(a.V[(keys+j)*dim+x])
				out[row*dim+x] += term
				squares[row] += term * term
			}
		}
	}
	return out, squares
}

func (a Mixed) score(row, key int) float64 {
	if a.Score != nil {
		return a.Score(row, key)
	}
	dim, keys := a.S.Dim, keysOf(a.S, row)
	var dot float64
	for x := range dim {
		dot += float64(a.Q[row*dim+x]) * float64(a.K[(keys+key)*dim+x])
	}
	return dot / math.Sqrt(float64(dim))
}

// OneMixed is that of a single query; there may be no keys.
func OneMixed(ty tensor.Type, q, k, v []float32) Mixed {
	return Mixed{S: oneQuery(len(k)/len(q), len(q)), Type: ty, Q: q, K: k, V: v}
}
