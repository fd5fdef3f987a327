package shared

import (
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// Gemm64 is the product c [Batch, M, N] in float64. scale is, for each row of
// c, the size that its elements would have if the signs of their terms were
// random: terms that cancel make an element small, but not its rounding error.
func Gemm64(a, b []float32, s attn.GemmShape) (c, scale []float64) {
	c = make([]float64, s.Batch*s.M*s.N)
	scale = make([]float64, s.Batch*s.M)
	for row := range s.Batch * s.M {
		var squares float64
		for n := range s.N {
			var sum float64
			at, step := column(s, row/s.M, n)
			for _, x := range a[row*s.K : (row+1)*s.K] {
				term := float64(x) * float64(b[at])
				at += step
				sum += term
				squares += term * term
			}
			c[row*s.N+n] = sum
		}
		scale[row] = math.Sqrt(squares / float64(s.N))
	}
	return c, scale
}

// Gemm32 is the same in float32 throughout, summed from first to last.
func Gemm32(a, b []float32, s attn.GemmShape) []float32 {
	c := make([]float32, s.Batch*s.M*s.N)
	for row := range s.Batch * s.M {
		for n := range s.N {
			var sum float32
			at, step := column(s, row/s.M, n)
			for _, x := range a[row*s.K : (row+1)*s.K] {
				sum += x * b[at]
				at += step
			}
			c[row*s.N+n] = sum
		}
	}
	return c
}

// column is where the numbers of b for column n begin, and how far apart they are.
func column(s attn.GemmShape, batch, n int) (first, step int) {
	if s.TransB {
		return (batch*s.N + n) * s.K, 1
	}
	return batch*s.K*s.N + n, s.N
}

// GemmTruth is what a product is judged by.
func GemmTruth(a, b []float32, s attn.GemmShape) judge.Truth {
	want, scale := Gemm64(a, b, s)
	return judge.Truth{Layout: judge.Layout{Outer: s.Batch * s.M, Len: s.N, Inner: 1}, Want: want, Plain: Gemm32(a, b, s), Scale: scale}
}
