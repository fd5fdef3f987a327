// Package oracle knows the right answers: in float64 what they are, and in
// plain float32 how close an honest kernel can be expected to come.
package oracle

import "math"

// Softmax64 is the softmax of x [outer, n, inner] along n, in float64. Rows
// must hold a number larger than -Inf.
func Softmax64(x []float32, outer, n, inner int) []float64 {
	y := make([]float64, len(x))
	rows(outer, n, inner, func(first int) {
		largest := math.Inf(-1)
		for i := range n {
			largest = math.Max(largest, float64(x[first+i*inner]))
		}
		var sum float64
		for i := range n {
			at := first + i*inner
			y[at] = math.Exp(float64(x[at]) - largest)
			sum += y[at]
		}
		for i := range n {
			y[first+i*inner] /= sum
		}
	})
	return y
}

// Softmax32 is the same in float32 throughout, summed from first to last: the
// yardstick for rounding errors.
func Softmax32(x []float32, outer, n, inner int) []float32 {
	y := make([]float32, len(x))
	rows(outer, n, inner, func(first int) {
		largest := float32(math.Inf(-1))
		for i := range n {
			largest = max(largest, x[first+i*inner])
		}
		var sum float32
		for i := range n {
			at := first + i*inner
			y[at] = float32(math.Exp(float64(x[at] - largest)))
			sum += y[at]
		}
		for i := range n {
			y[first+i*inner] /= sum
		}
	})
	return y
}

// rows calls f with the offset of each row's first element.
func rows(outer, n, inner int, f func(first int)) {
	for o := range outer {
		for j := range inner {
			f(o*n*inner + j)
		}
	}
}
