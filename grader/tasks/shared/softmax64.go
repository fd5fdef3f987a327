// Package shared knows the right answers: float64 gives the values, and plain
// float32 shows how close an honest kernel can be expected to come. Package judge
// puts what it says about a task's output into words.
package shared

import (
	"math"

	"flashlab/grader/grading/judge"
)

// Softmax64 is the softmax of x along the layout's rows, in float64. Rows must
// hold a number larger than -Inf.
func Softmax64(x []float32, l judge.Layout) []float64 {
	y := make([]float64, len(x))
	for row := range l.Rows() {
		first := l.First(row)
		largest := math.Inf(-1)
		for i := range l.Len {
			largest = math.Max(largest, float64(x[first+i*l.Inner]))
		}
		var sum float64
		for i := range l.Len {
			at := first + i*l.Inner
			y[at] = math.Exp(float64(x[at]) - largest)
			sum += y[at]
		}
		for i := range l.Len {
			y[first+i*l.Inner] /= sum
		}
	}
	return y
}

// Softmax32 is the same in float32 throughout, summed from first to last: the
// yardstick for rounding errors.
func Softmax32(x []float32, l judge.Layout) []float32 {
	y := make([]float32, len(x))
	for row := range l.Rows() {
		first := l.First(row)
		largest := float32(math.Inf(-1))
		for i := range l.Len {
			largest = max(largest, x[first+i*l.Inner])
		}
		var sum float32
		for i := range l.Len {
			at := first + i*l.Inner
			y[at] = float32(math.Exp(float64(x[at] - largest)))
			sum += y[at]
		}
		for i := range l.Len {
			y[first+i*l.Inner] /= sum
		}
	}
	return y
}

// SoftmaxTruth is what a softmax is judged by.
func SoftmaxTruth(x []float32, l judge.Layout) judge.Truth {
	return judge.Truth{Layout: l, Want: Softmax64(x, l), Plain: Softmax32(x, l)}
}
