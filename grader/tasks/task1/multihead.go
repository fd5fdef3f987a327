package task1

import (
	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// multihead is all of task 1: q [batch, seq, hidden] in, the same shape out.
var multihead = judge.Op{
	Name:   "multihead",
	Sizes:  shared.Attention.Sizes,
	Causal: true,
	Rules:  shared.Attention.Rules,
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		s := c.Attention()
		q := []int{s.Batch, s.SeqQ, s.Heads * s.Dim}
		kv := []int{s.Batch, s.SeqK, s.Heads * s.Dim}
		return []problem.Tensor{{Name: "q", Shape: q}, {Name: "k", Shape: kv, Dist: tensor.Normal}, {Name: "v", Shape: kv, Dist: tensor.Normal}},
			[]problem.Tensor{{Name: "result", Shape: q}}
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		s := c.Attention()
		apart := func(x []float32, seq int) []float32 { return shared.SplitUp(x, s.Batch, seq, s.Heads, s.Dim) }
		p := shared.AttentionOn(s, apart(in[0].Data, s.SeqQ), apart(in[1].Data, s.SeqK), apart(in[2].Data, s.SeqK))
		p.Whole = true
		t := shared.AttentionTruth(p.Q, p.K, p.V, s) // head by head
		got := out.Tensors[0].Data
		return judge.Rule(c, judge.Shapes{Problem: c}, merged(t, s), got, func(j judge.Judgement) string {
			if why := headsPattern(in, got, merged(t, s), t.Want, j, s); why != "" {
				return why
			}
			return p.Pattern(t, apart(got, s.SeqQ), j)
		})
	},
	Least: judge.Once,
}

// merged is a truth about [batch, heads, seq, dim] put side by side: a row is
// still one head's part of one position.
func merged(t judge.Truth, s attn.Shape) judge.Truth {
	t.Want = shared.JoinUp(t.Want, s.Batch, s.SeqQ, s.Heads, s.Dim)
	t.Plain = shared.JoinUp(t.Plain, s.Batch, s.SeqQ, s.Heads, s.Dim)
	t.Scale = shared.JoinUp(t.Scale, s.Batch, s.SeqQ, s.Heads, 1)
	return t
}

// headsPattern recognises heads that were put together wrongly; apart are those of want, [batch, heads, seq, dim].
func headsPattern(in []*tensor.Tensor, got []float32, t judge.Truth, apart []float64, j judge.Judgement, s attn.Shape) string {
	if s.Heads == 1 || s.Dim == 1 {
		return ""
	}
	whole := s
	whole.Heads, whole.KVHeads, whole.Dim = 1, 1, s.Heads*s.Dim
	of := func(s attn.Shape) []float64 {
		out, _ := shared.Attention64(in[0].Data, in[1].Data, in[2].Data, s, shared.Deviation{})
		return out
	}
	const reshaped = "the heads are made by a change of shape alone: splitting moves numbers (see SplitHeads)"
	return t.Recognise(got, j,
		judge.Wrong(func() []float64 { return apart }, "the heads are right but not merged: this is [batch, heads, seq, dim]. Call MergeHeads last"),
		judge.Wrong(func() []float64 { return of(whole) }, "this is attention with a single head: hidden is not split. Call SplitHeads on q, k and v first"),
		judge.Wrong(func() []float64 { return of(s) }, reshaped),
		judge.Wrong(func() []float64 { return shared.JoinUp(of(s), s.Batch, s.SeqQ, s.Heads, s.Dim) }, reshaped))
}
