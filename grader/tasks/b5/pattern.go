package b5

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// judge decides on q, k and v.
func (p projection) judge(out [][]float32) judge.Ruling {
	t := p.truth(p.numbers())
	got := p.places().Gather(out)
	c := p.Problem // with all three as one output, as the judge sees it
	c.Outputs = []problem.Tensor{{Name: "[q|k|v]", Shape: []int{p.rows(), p.outputs()}, Type: t.Type}}
	return judge.Rule(c, p, t, got, func(j judge.Judgement) string { return t.Recognise(got, j, p.mistakes(t.Want)...) })
}

// mistakes are those whose output this may be, where it should be want.
func (p projection) mistakes(want []float64) []judge.Mistake {
	all := p.places().Mistakes(want)
	for _, m := range p.misreadings() {
		all = append(all, judge.Wrong(func() []float64 { return p.truth(judge.Narrow(m.Whole())).Want }, m.Says))
	}
	return all
}
