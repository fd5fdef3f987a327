package b5

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
)

// judge decides on q, k and v.
func (p projection) judge(out [][]float32) judge.Ruling {
	t := p.truth(p.numbers())
	got := p.places().Gather(out)
	c := p.Problem // with all three as one output, as the judge sees it
	c.Outputs = []problem.Tensor{{Name: "[q|k|v]", Shape: []int{p.rows(), p.outputs()}, Type: t.Type}}
	return judge.Rule(c, p, t, got, func(j judge.Judgement) string { return p.pattern(t, got) })
}

// pattern recognises the output of a mistake.
func (p projection) pattern(t judge.Truth, got []float32) string {
	for _, m := range p.mistakes(t.Want) {
		if want := m.Out(); t.Same(got, want) && !t.Same(t.Plain, want) {
			return m.Says
		}
	}
	return ""
}

func (p projection) mistakes(want []float64) []shared.QKVMistake {
	all := p.places().Mistakes(want)
	for _, m := range p.misreadings() {
		all = append(all, shared.QKVMistake{Out: func() []float64 { return p.truth(m.numbers()).Want }, Says: m.says})
	}
	return all
}
