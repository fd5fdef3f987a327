package shared

import (
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// Product is y [Rows, Outputs] = x [Rows, Hidden] · w + bias in a type of 16 bits, with sums in float32.
type Product struct {
	Type                  tensor.Type
	Rows, Hidden, Outputs int
	X                     []float32
	Weight                func(i, n int) float32 // of number i of x, for output n
	Bias                  []float32              // nil for none
	Given                 []float32              // the product itself, where Hidden is 0
}

// Truth is what y is judged by. A row's scale is what rounding errors of 1, in each product and in the output, would come to.
func (p Product) Truth() judge.Truth {
	n := p.Rows * p.Outputs
	t := judge.Truth{Layout: judge.Layout{Outer: p.Rows, Len: p.Outputs, Inner: 1}, Type: p.Type,
		Want: make([]float64, n), Plain: make([]float32, n), Scale: make([]float64, p.Rows)}
	for row := range p.Rows {
		x, squares := p.X[row*p.Hidden:(row+1)*p.Hidden], 0.0
		for n := range p.Outputs {
			at, sum, plain := row*p.Outputs+n, 0.0, float32(0)
			if p.Given != nil {
				sum, plain = float64(p.Given[at]), p.Given[at]
			}
			for i, x := range x {
				w := p.Weight(i, n)
				term := float64(x) * float64(w)
				sum, plain, squares = sum+term, plain+x*w, squares+term*term
			}
			if p.Bias != nil {
				sum, plain = sum+float64(p.Bias[n]), plain+p.Bias[n]
			}
			squares += sum * sum
			t.Want[at], t.Plain[at] = sum, plain
		}
		t.Scale[row] = math.Sqrt(squares / float64(p.Outputs))
	}
	p.Type.Round(t.Plain)
	return t
}
