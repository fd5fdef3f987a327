package b4

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// judge decides on q, k and v.
func (p projection) judge(out [][]float32) judge.Ruling {
	t := p.truth()
	got := p.Gather(out)
	c := p.given // with all three as one output, as the judge sees it
	c.Outputs = []problem.Tensor{{Name: "[q|k|v]", Shape: []int{p.Rows(), p.Outputs()}, Type: t.Type}}
	return judge.Rule(c, p, t, got, func(j judge.Judgement) string { return t.Recognise(got, j, p.mistakes(t.Want)...) })
}

// mistakes are those whose output this may be, where it should be want.
func (p projection) mistakes(want []float64) []judge.Mistake {
	all := p.Mistakes(want)
	if p.hidden == 0 {
		return all
	}
	if len(p.Bias) > 0 {
		all = append(all, judge.Wrong(p.roundedFirst, "the sum is rounded before the bias is added: add it in float32, and round once"))
	}
	outputs := p.Outputs()
	return append(all,
		judge.Wrong(func() []float64 { return p.of(func(i, n int) int { return n*p.hidden + i }, p.hidden) },
			"w is read as [outputs, hidden]: it is [hidden, outputs], and column n is output n's"),
		judge.Wrong(func() []float64 {
			return p.of(func(i, n int) int { return i*outputs + n }, p.hidden/64*64)
		}, "the end of hidden is left out: it need not be a multiple of 64"))
}

// of is the projection with weights from elsewhere, and sums over so many.
func (p projection) of(weight func(i, n int) int, hidden int) []float64 {
	outputs := p.Outputs()
	y := make([]float64, p.Rows()*outputs)
	for at := range y {
		row, n := at/outputs, at%outputs
		y[at] = float64(p.bias(n))
		for i := range hidden {
			y[at] += float64(p.x[row*p.hidden+i]) * float64(p.w[weight(i, n)])
		}
	}
	return y
}

// roundedFirst is the projection with sums that are rounded, and then have the bias added.
func (p projection) roundedFirst() []float64 {
	outputs := p.Outputs()
	y := p.of(func(i, n int) int { return i*outputs + n }, p.hidden)
	sums := make([]float32, len(y))
	for at := range y {
		sums[at] = float32(y[at] - float64(p.bias(at%outputs)))
	}
	p.ty.Round(sums)
	for at := range y {
		y[at] = float64(sums[at]) + float64(p.bias(at%outputs))
	}
	return y
}
