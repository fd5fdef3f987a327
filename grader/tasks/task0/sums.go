package task0

import (
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// sumMistakes are sums of some of a row's numbers.
func sumMistakes(x []float32) []judge.Mistake {
	of := func(takes func(i int) bool, says string) judge.Mistake {
		return judge.Wrong(func() []float64 { return sum64(x, block, takes) }, says)
	}
	return []judge.Mistake{
		of(func(i int) bool { return i == 0 }, "y is each block's first number: nothing is added to it"),
		of(func(i int) bool { return i < block/2 }, "only the first half of each block is added up: the first round adds number t + 128 to number t"),
		of(func(i int) bool { return i%2 == 0 }, "every second number is missing: the last round adds number 1 to number 0, with half = 1"),
	}
}

// sums is puzzle 5, and 7: the sums of rows of n numbers. A case has so many of what size names: blocks,
// of a row each, or tiles of n rows.
func sums(name, size string, n int, mistakes func(x []float32) []judge.Mistake) judge.Op {
	return judge.Op{
		Name:  name,
		Sizes: []string{size},
		Tensors: func(p problem.Problem) (in, out []problem.Tensor) {
			rows := p.Sizes["blocks"] + p.Sizes["tiles"]*n
			return []problem.Tensor{{Name: "x", Shape: []int{rows, n}}}, []problem.Tensor{{Name: "y", Shape: []int{rows}}}
		},
		Judge: func(p problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			x, got := in[0].Data, out.Tensors[0].Data
			t := sumTruth(x, n)
			return judge.Rule(p, judge.Shapes{Problem: p}, t, got, func(j judge.Judgement) string { return t.Recognise(got, j, mistakes(x)...) })
		},
		Least: judge.Once,
	}
}

// sum64 adds up, row by row, the numbers that are taken.
func sum64(x []float32, n int, takes func(i int) bool) []float64 {
	y := make([]float64, len(x)/n)
	for i, v := range x {
		if takes(i % n) {
			y[i/n] += float64(v)
		}
	}
	return y
}

// sumTruth is what sums are compared with. A row's error is relative to what its sum would be if signs were random.
func sumTruth(x []float32, n int) judge.Truth {
	rows := len(x) / n
	t := judge.Truth{Layout: judge.Layout{Outer: rows, Len: 1, Inner: 1}, Want: sum64(x, n, func(int) bool { return true }),
		Plain: make([]float32, rows), Scale: make([]float64, rows)}
	for i, v := range x {
		t.Plain[i/n] += v
		t.Scale[i/n] += float64(v) * float64(v)
	}
	for i, s := range t.Scale {
		t.Scale[i] = math.Sqrt(s)
	}
	return t
}
