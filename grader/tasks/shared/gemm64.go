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
			for k := range s.K {
				term := float64(a[row*s.K+k]) * float64(b[bIndex(s, row/s.M, k, n)])
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
			for k := range s.K {
				sum += a[row*s.K+k] * b[bIndex(s, row/s.M, k, n)]
			}
			c[row*s.N+n] = sum
		}
	}
	return c
}

func bIndex(s attn.GemmShape, batch, k, n int) int {
	if s.TransB {
		return (batch*s.N+n)*s.K + k
	}
	return (batch*s.K+k)*s.N + n
}

// GemmTruth is what a product is judged by.
func GemmTruth(a, b []float32, s attn.GemmShape) judge.Truth {
	want, scale := Gemm64(a, b, s)
	return judge.Truth{Layout: judge.Layout{Outer: s.Batch * s.M, Len: s.N, Inner: 1}, Want: want, Plain: Gemm32(a, b, s), Scale: scale}
}
