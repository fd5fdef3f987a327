package shared

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Softmax is a batched softmax of x [outer, len, inner] along len.
var Softmax = judge.Op{
	Name:  "softmax",
	Sizes: []string{"outer", "len", "inner"},
	Rules: func(c problem.Problem) error {
		if s := c.Softmax(); c.Dist == tensor.Masked && (s.Len < 64 || s.Inner%2 == 0) {
			// Only every 64th element is sure to be finite: such rows hold one.
			return fmt.Errorf("masked inputs of %v: rows need 64 elements or more and an odd inner dimension, or a whole row could be -Inf", s)
		}
		return nil
	},
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		s := c.Softmax()
		shape := []int{s.Outer, s.Len, s.Inner}
		if s.Inner == 1 {
			shape = shape[:2]
		}
		return []problem.Tensor{{Name: "x", Shape: shape}}, []problem.Tensor{{Name: "y", Shape: shape}}
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		s := c.Softmax()
		x, got := in[0].Data, out.Tensors[0].Data
		t := SoftmaxTruth(x, judge.Layout{Outer: s.Outer, Len: s.Len, Inner: s.Inner})
		v := judge.Rule(c, s, t, got, func(j judge.Judgement) string { return softmaxPattern(t, got, x, j) })
		if !v.Passed {
			return v
		}
		for i, masked := range x {
			// A masked element has no influence at all: not even a tiny one.
			if math.IsInf(float64(masked), -1) && got[i] != 0 {
				j := judge.Judgement{Worst: i, Got: float64(got[i]), Error: math.Inf(1)}
				return judge.Explain(c, s, j, "the input is -Inf here, so the output is exactly 0")
			}
		}
		return v
	},
	Least: judge.Once,
	Timed: timedSoftmax,
}

func softmaxPattern(t judge.Truth, got, x []float32, j judge.Judgement) string {
	rows, whole, together := t.Layout, t.Layout, t.Layout
	rows.Outer, rows.Len, rows.Inner = t.Outer*t.Len, t.Inner, 1
	whole.Outer, whole.Len, whole.Inner = 1, len(x), 1
	together.Outer, together.Inner = t.Outer*t.Inner, 1
	_, nan, _ := judge.Census(got)
	switch {
	case nan > 0 && farBelow(t, got, x):
		return judge.NotNumbers(nan) + ", in rows far below 0: does the maximum begin at 0? Begin it at -Inf, or at a score of the row"
	case nan > 0 && large(x):
		return judge.NotNumbers(nan) + ": did exp overflow? Subtract the row's maximum first"
	case nan > 0:
		return ""
	}
	over := func(l judge.Layout, says string) judge.Mistake {
		return judge.Wrong(func() []float64 { return Softmax64(x, l) }, says)
	}
	var known []judge.Mistake
	if t.Inner > 1 { // else len is the last
		known = append(known, over(rows, "this is the softmax over the last dimension; the task says along len, the second-last"))
	}
	if says := t.Recognise(got, j, append(known, over(whole, "this is one softmax over all elements; each row has its own"),
		over(together, "this is the softmax of rows that lie together: inner is ignored. A row's elements are inner apart: element i of row (o, j) is at (o · len + i) · inner + j"),
		judge.Wrong(func() []float64 { return undivided(x, t.Layout) }, "the exponentials are never divided by their row's sum: y = exp(x - max) / sum"))...); says != "" {
		return says
	}
	var sum float64
	first := t.First(t.Row(j.Worst))
	for i := range t.Len {
		sum += float64(got[first+i*t.Inner])
	}
	switch {
	case math.Abs(sum-1) > 1e-3:
		return fmt.Sprintf("its row adds up to %.4g instead of 1", sum)
	case j.Error >= 1e-3:
		return "its row adds up to 1, but the values in it are wrong"
	}
	return ""
}

// undivided is exp(x - the row's largest).
func undivided(x []float32, l judge.Layout) []float64 {
	e := make([]float64, len(x))
	for row := range l.Rows() {
		first, largest := l.First(row), float32(math.Inf(-1))
		for i := range l.Len {
			largest = max(largest, x[first+i*l.Inner])
		}
		for i := range l.Len {
			at := first + i*l.Inner
			e[at] = math.Exp(float64(x[at]) - float64(largest))
		}
	}
	return e
}

// farBelow tells whether the rows with NaN are those whose exponentials all
// vanish, if nothing or 0 is subtracted.
func farBelow(t judge.Truth, got, x []float32) bool {
	for row := range t.Rows() {
		nan, largest := false, float32(math.Inf(-1))
		for i := range t.Len {
			at := t.First(row) + i*t.Inner
			nan = nan || got[at] != got[at]
			largest = max(largest, x[at])
		}
		if nan && largest >= -80 {
			return false
		}
	}
	return true
}

func large(x []float32) bool {
	for _, v := range x {
		if v > 80 { // exp(89) is beyond float32
			return true
		}
	}
	return false
}
