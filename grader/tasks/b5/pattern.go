package b5

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// judge decides on q, k and v.
func (p projection) judge(out [][]float32) judge.Ruling {
	t := p.truth(p.numbers())
	got := p.gathered(out)
	c := p.Problem // with all three as one output, as the judge sees it
	c.Outputs = []problem.Tensor{{Name: "[q|k|v]", Shape: []int{p.rows(), p.outputs()}, Type: t.Type}}
	return judge.Rule(c, p, t, got, func(j judge.Judgement) string { return p.pattern(t, got) })
}

// mistake is an output that one gets by mistake, as [rows, outputs].
type mistake struct {
	out  func() []float64
	says string
}

// pattern recognises the output of a mistake.
func (p projection) pattern(t judge.Truth, got []float32) string {
	for _, m := range p.mistakes(t.Want) {
		if want := m.out(); t.Same(got, want) && !t.Same(t.Plain, want) {
			return m.says
		}
	}
	return ""
}

func (p projection) mistakes(want []float64) []mistake {
	s, outputs := p.Sizes, p.outputs()
	dim, heads, kv := s["dim"], s["heads"], s["kvheads"]
	// moved is the output with columns taken from elsewhere.
	moved := func(from func(column int) int) func() []float64 {
		return func() []float64 {
			y := make([]float64, len(want))
			for i := range y {
				y[i] = want[i/outputs*outputs+from(i%outputs)]
			}
			return y
		}
	}
	biased := func(times func(n int) float64) func() []float64 {
		return func() []float64 {
			y := make([]float64, len(want))
			for i := range y {
				y[i] = want[i] + times(i%outputs)
			}
			return y
		}
	}
	bias := func(n int) float64 { return float64(p.bias[n]) }
	q, k := heads*dim, kv*dim
	all := []mistake{
		{biased(func(n int) float64 { return -bias(n) }), "the bias is missing: it is added once to every output"},
		{biased(bias), "the bias is added twice"},
		{biased(func(n int) float64 { return bias(n%dim) - bias(n) }), "every head has the first head's bias: it has a number for each of the outputs"},
		{moved(func(n int) int {
			switch {
			case n < q:
				return n
			case n < q+k:
				return n + k
			}
			return n - k
		}), "k and v are swapped: behind the heads of q come those of k, then those of v"},
	}
	if kv > 1 {
		all = append(all, mistake{moved(func(n int) int {
			if n < q {
				return n
			}
			head, isV := (n-q)%k/dim, (n-q)/k
			return q + (2*head+isV)*dim + n%dim
		}), "heads of k and of v are taken in turns: behind the heads of q come all those of k, then all those of v"},
			mistake{moved(func(n int) int {
				if n < q {
					return n
				}
				return q + (n-q)/k*k + (n-q)%dim
			}), "all heads of k, and of v, hold the first one's numbers: there are KVHeads of each"})
	}
	if kv < heads {
		all = append(all, mistake{moved(func(n int) int {
			if n < q+k {
				return n
			}
			return min(n-q-k+2*q, outputs-1) // as if k had as many heads as q
		}), "v is not where it should be: k has KVHeads heads, and not Heads"})
	}
	if s["seq"] > 1 && heads > 1 {
		all = append(all, mistake{func() []float64 { return p.untransposed(want) }, "q, k and v are written as [batch, seq, heads, dim]: a head's tokens lie together"})
	}
	for _, m := range p.misreadings() {
		all = append(all, mistake{func() []float64 { return p.truth(m.numbers()).Want }, m.says})
	}
	return all
}

// untransposed is what one reads of q, k and v that were written as [batch, seq, heads, dim].
func (p projection) untransposed(want []float64) []float64 {
	s, outputs := p.Sizes, p.outputs()
	seq, dim, first := s["seq"], s["dim"], 0
	y := make([]float64, len(want))
	for _, heads := range []int{s["heads"], s["kvheads"], s["kvheads"]} {
		for at := range p.rows() * heads * dim {
			batch, rest := at/(seq*heads*dim), at%(seq*heads*dim)
			written := want[(batch*seq+rest/(heads*dim))*outputs+first+rest%(heads*dim)]
			y[(batch*seq+rest/dim%seq)*outputs+first+rest/dim/seq*dim+at%dim] = written
		}
		first += heads * dim
	}
	return y
}
