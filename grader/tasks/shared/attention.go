package shared

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Attention is out = softmax(q·kᵀ/√dim)·v by whatever steps.
var Attention = judge.Op{
	Name:    "attention",
	Sizes:   []string{"batch", "heads", "seqq", "seqk", "dim"},
	Causal:  true,
	Tensors: attentionTensors,
	Rules: func(c problem.Problem) error {
		if s := c.Attention(); s.Causal && s.SeqK < s.SeqQ {
			return fmt.Errorf("attention of %v: some queries would see no key, which op \"attention\" does not ask for", s)
		}
		return AttentionRules(c)
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		return judgeAny(c, in, out, true)
	},
	Least: judge.Once,
	Timed: TimedAttention,
}

func AttentionRules(c problem.Problem) error {
	if c.Dist == tensor.Masked {
		return fmt.Errorf("attention of masked inputs: -Inf times 0 is NaN; causal = true masks")
	}
	return nil
}

// attentionTensors: the case's distribution is that of q alone, so that scores
// are as large as it makes them, and v stays ordinary. Numbers of many sizes are
// wanted everywhere.
func attentionTensors(c problem.Problem) (in, out []problem.Tensor) {
	s := c.Attention()
	q := []int{s.Batch, s.Heads, s.SeqQ, s.Dim}
	kv := []int{s.Batch, s.KVHeads, s.SeqK, s.Dim}
	dist := tensor.Normal
	if c.Dist == tensor.Uneven {
		dist = tensor.Uneven
	}
	return []problem.Tensor{{Name: "q", Shape: q}, {Name: "k", Shape: kv, Dist: dist}, {Name: "v", Shape: kv, Dist: dist}},
		[]problem.Tensor{{Name: "out", Shape: q}}
}

func judgeAttention(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	return judgeAny(c, in, out, false)
}

// judgeAny judges an attention; whole says that its scores are computed in whole rows, without tiles.
func judgeAny(c problem.Problem, in []*tensor.Tensor, out problem.Answer, whole bool) judge.Ruling {
	s := c.Attention()
	p := AttentionOn(s, in[0].Data, in[1].Data, in[2].Data)
	p.Whole = whole
	got := out.Tensors[0].Data
	t := AttentionTruth(p.Q, p.K, p.V, s)
	return judge.Rule(c, s, t, got, func(j judge.Judgement) string { return p.Pattern(t, got, j) })
}
