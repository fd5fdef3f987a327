package shared

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// strides are the products whose rows of a or b are taken too near to each other or too far apart: by another of the
// three sizes. What lies behind a matrix is whatever it is.
func strides(a, b []float32, s attn.GemmShape, product func(a, b func() []float32, s attn.GemmShape, says string) judge.Mistake) (known []judge.Mistake) {
	names := map[int]string{s.M: "M", s.N: "N", s.K: "K"}
	given := func(x []float32) func() []float32 { return func() []float32 { return x } }
	rows, width, form := s.K, s.N, "[batch, k, n], so the next row is N further"
	if s.TransB {
		rows, width, form = s.N, s.K, "[batch, n, k], so the next row is K further"
	}
	for _, stride := range []int{s.M, s.N, s.K} {
		if stride != width {
			known = append(known, product(given(a), func() []float32 { return strided(b, rows, width, stride) }, s,
				fmt.Sprintf("the rows of b are taken %s apart; b is %s", names[stride], form)))
		}
		if stride != s.K {
			known = append(known, product(func() []float32 { return strided(a, s.M, s.K, stride) }, given(b), s,
				fmt.Sprintf("the rows of a are taken %s apart; a is [batch, m, k], so the next row is K further", names[stride])))
		}
	}
	return known
}

// strided is x [batch, rows, width] as one reads it whose rows are stride apart. NaN is what lies behind it.
func strided(x []float32, rows, width, stride int) []float32 {
	y := make([]float32, len(x))
	for i := range y {
		batch, row, column := i/(rows*width), i/width%rows, i%width
		if from := batch*rows*width + row*stride + column; from < len(x) {
			y[i] = x[from]
		} else {
			y[i] = float32(math.NaN())
		}
	}
	return y
}
