package oracle

import (
	"math"

	"flashlab/tensor"
)

// The error bound, relative to the reference's RMS.
const (
	times = 8    // the RMS error of the plain float32 evaluation
	floor = 2e-6 // where that is very small
)

// Judgement is how an output compares with the truth.
type Judgement struct {
	Passed bool
	Worst  int     // offset of the element that is furthest off its bound
	Got    float64 // there
	Want   float64
	Error  float64 // RMS error of the worst row, relative to that row's RMS
	Bound  float64 // what it may be
	Reason string  // one sentence, "" if passed
}

// JudgeSoftmax compares an output with the softmax of x [outer, n, inner]. It
// judges row by row, so that a wrong row cannot hide behind large ones.
func JudgeSoftmax(got, x []float32, outer, n, inner int) Judgement {
	want := Softmax64(x, outer, n, inner)
	bound := times * plainError(Softmax32(x, outer, n, inner), want, outer, n, inner)
	bound = math.Max(bound, floor)
	j := Judgement{Passed: true, Bound: bound}
	worst := -1.0
	rows(outer, n, inner, func(first int) {
		r := measure(got, want, first, n, inner)
		if r.error > worst {
			worst = r.error
			j.Error, j.Worst = r.error, r.worst
		}
	})
	for i, v := range x {
		// A masked element takes no part at all: not even a tiny one.
		if math.IsInf(float64(v), -1) && got[i] != 0 && worst <= bound {
			j.Worst, worst = i, math.Inf(1)
			j.Error = math.Abs(float64(got[i]))
			j.Reason = "the input is -Inf here, so the output is exactly 0"
		}
	}
	j.Passed = worst <= bound
	j.Got, j.Want = float64(got[j.Worst]), want[j.Worst]
	if !j.Passed && j.Reason == "" {
		j.Reason = pattern(got, x, want, j, outer, n, inner)
	}
	return j
}

// row is one row's error: NaN counts as infinite.
type row struct {
	error float64 // RMS, relative to the row's RMS
	worst int
}

func measure[T float32 | float64](got []T, want []float64, first, n, inner int) row {
	r := row{worst: first}
	var sum, ref, worst float64
	for i := range n {
		at := first + i*inner
		g := float64(got[at])
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return row{math.Inf(1), at}
		}
		e := math.Abs(g - want[at])
		sum += e * e
		ref += want[at] * want[at]
		if e > worst {
			worst, r.worst = e, at
		}
	}
	r.error = math.Sqrt(sum / ref) // ref > 0: a softmax adds up to 1
	return r
}

// plainError is the RMS over the rows of the plain evaluation's errors. One
// row's own error may be small by luck.
func plainError(plain []float32, want []float64, outer, n, inner int) float64 {
	var sum float64
	rows(outer, n, inner, func(first int) {
		e := measure(plain, want, first, n, inner).error
		sum += e * e
	})
	return math.Sqrt(sum / float64(outer*inner))
}

// Case recomputes a case's input; nothing in it came from a worker.
func Case(d tensor.Dist, seed uint64, stream uint32, shape []int) ([]float32, error) {
	x, err := tensor.Random(d, seed, stream, shape...)
	if err != nil {
		return nil, err
	}
	return x.Data, nil
}
