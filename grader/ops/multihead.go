package ops

import (
	"flashlab/attn"
	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// multihead is all of task 1: q [batch, seq, hidden] in, the same shape out.
var multihead = Op{
	Name:   "multihead",
	Sizes:  attention.Sizes,
	Causal: true,
	Rules:  attention.Rules,
	Tensors: func(c wire.Case) (in, out []wire.Tensor) {
		s := c.Attention()
		q := []int{s.Batch, s.SeqQ, s.Heads * s.Dim}
		kv := []int{s.Batch, s.SeqK, s.Heads * s.Dim}
		return []wire.Tensor{{Name: "q", Shape: q}, {Name: "k", Shape: kv, Dist: tensor.Normal}, {Name: "v", Shape: kv, Dist: tensor.Normal}},
			[]wire.Tensor{{Name: "result", Shape: q}}
	},
	Judge: func(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
		s := c.Attention()
		apart := func(x []float32, seq int) []float32 { return splitUp(x, s.Batch, seq, s.Heads, s.Dim) }
		p := problem{s, apart(in[0].Data, s.SeqQ), apart(in[1].Data, s.SeqK), apart(in[2].Data, s.SeqK)}
		t := oracle.AttentionTruth(p.q, p.k, p.v, s) // head by head
		got := out.Tensors[0].Data
		return judge(c, shapes{c}, merged(t, s), got, func(j oracle.Judgement) string {
			if why := headsPattern(in, got, t, s); why != "" {
				return why
			}
			return p.pattern(t, apart(got, s.SeqQ), j)
		})
	},
	Least: once,
}

// merged is a truth about [batch, heads, seq, dim] put side by side: a row is
// still one head's part of one position.
func merged(t oracle.Truth, s attn.Shape) oracle.Truth {
	t.Want = joinUp(t.Want, s.Batch, s.SeqQ, s.Heads, s.Dim)
	t.Plain = joinUp(t.Plain, s.Batch, s.SeqQ, s.Heads, s.Dim)
	t.Scale = joinUp(t.Scale, s.Batch, s.SeqQ, s.Heads, 1)
	return t
}

// headsPattern recognises heads that were put together wrongly.
func headsPattern(in []*tensor.Tensor, got []float32, t oracle.Truth, s attn.Shape) string {
	if s.Heads == 1 || s.Dim == 1 {
		return ""
	}
	whole := s
	whole.Heads, whole.KVHeads, whole.Dim = 1, 1, s.Heads*s.Dim
	one, _ := oracle.Attention64(in[0].Data, in[1].Data, in[2].Data, whole, oracle.Variant{})
	reshaped, _ := oracle.Attention64(in[0].Data, in[1].Data, in[2].Data, s, oracle.Variant{})
	switch {
	case s.SeqQ > 1 && t.Same(got, t.Want):
		return "the heads are right but not merged: this is [batch, heads, seq, dim]"
	case t.Same(got, one):
		return "this is attention with a single head: hidden is not split"
	case t.Same(got, reshaped), t.Same(got, joinUp(reshaped, s.Batch, s.SeqQ, s.Heads, s.Dim)):
		return "the heads are made by a change of shape alone: splitting moves numbers (see SplitHeads)"
	}
	return ""
}
