package b2

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// mixed is an attention of 16-bit inputs.
type mixed struct {
	s       attn.Shape
	ty      tensor.Type
	q, k, v []float32
}

func (a mixed) String() string { return fmt.Sprintf("%v, %v", a.s, a.ty) }

// way is how a kernel keeps its numbers; nil is float32.
type way struct {
	score, p, sum, out func(x float32) float32
}

// rounder rounds single numbers to a type.
func rounder(ty tensor.Type) func(float32) float32 {
	return func(x float32) float32 {
		one := [1]float32{x}
		ty.Round(one[:])
		return one[0]
	}
}

// plainWay rounds what has to be of 16 bits, once: probabilities, which the tensor cores take so, and
// the output.
func plainWay(ty tensor.Type) way { return way{p: rounder(ty), out: rounder(ty)} }

// compute is the attention in one way, in the plainest order. The probabilities' sum is of those that
// are not rounded.
func (a mixed) compute(w way) []float32 {
	for _, f := range []*func(float32) float32{&w.score, &w.p, &w.sum, &w.out} {
		if *f == nil {
			*f = func(x float32) float32 { return x }
		}
	}
	s, dim := a.s, a.s.Dim
	factor := float32(1 / math.Sqrt(float64(dim)))
	out, p := make([]float32, s.QElements()), make([]float32, s.SeqK)
	for row := range len(out) / dim {
		i, keys := row%s.SeqQ, a.keysOf(row)
		largest, sum := float32(math.Inf(-1)), float32(0)
		for j := range p {
			p[j] = float32(math.Inf(-1))
			if !s.Sees(i, j) {
				continue
			}
			var dot float32
			for x := range dim {
				dot = w.sum(dot + a.q[row*dim+x]*a.k[(keys+j)*dim+x])
			}
			p[j] = w.score(dot * factor)
			largest = max(largest, p[j])
		}
		if math.IsInf(float64(largest), -1) {
			continue // sees nothing: zeros
		}
		y := out[row*dim : (row+1)*dim]
		for j := range p {
			e := float32(math.Exp(float64(p[j] - largest)))
			sum += e
			if e = w.p(e); e == 0 {
				continue
			}
			for x := range y {
				y[x] = w.sum(y[x] + e*a.v[(keys+j)*dim+x])
			}
		}
		for x := range y {
			y[x] = w.out(y[x] / sum)
		}
	}
	return out
}

// keysOf is the first key of a row of q, counted over all of k.
func (a mixed) keysOf(row int) int {
	head := row / a.s.SeqQ
	batch, head := head/a.s.Heads, head%a.s.Heads
	return (batch*a.s.KVHeads + head/(a.s.Heads/a.s.KVHeads)) * a.s.SeqK
}

// truth is what an output is judged by. A row's scale is what rounding errors of 1 would come to, in
// each product with a value, and in the output: values of other signs make that no smaller. Scores
// are in float32, so their errors are nothing beside these.
func (a mixed) truth() judge.Truth {
	want, _ := shared.Attention64(a.q, a.k, a.v, a.s, shared.Variant{})
	squares := a.squares()
	dim := a.s.Dim
	scale := make([]float64, len(want)/dim)
	for row := range scale {
		for _, y := range want[row*dim : (row+1)*dim] {
			squares[row] += y * y
		}
		scale[row] = math.Sqrt(squares[row] / float64(dim))
	}
	return judge.Truth{Layout: judge.Layout{Outer: len(scale), Len: dim, Inner: 1}, Type: a.ty,
		Want: want, Plain: a.compute(plainWay(a.ty)), Scale: scale}
}

// squares are, for each row, the sum of the squares of p · v.
func (a mixed) squares() []float64 {
	s, dim := a.s, a.s.Dim
	all, p := make([]float64, len(a.q)/dim), make([]float64, s.SeqK)
	for row := range all {
		i, keys, largest, sum := row%s.SeqQ, a.keysOf(row), math.Inf(-1), 0.0
		for j := range p {
			p[j] = math.Inf(-1)
			if s.Sees(i, j) {
				var dot float64
				for x := range dim {
					dot += float64(a.q[row*dim+x]) * float64(a.k[(keys+j)*dim+x])
				}
				p[j] = dot / math.Sqrt(float64(dim))
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
				term := p[j] / sum * float64(a.v[(keys+j)*dim+x])
				all[row] += term * term
			}
		}
	}
	return all
}
