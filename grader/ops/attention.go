package ops

import (
	"fmt"

	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// attention is out = softmax(q·kᵀ/√dim)·v by whatever steps.
var attention = Op{
	Name:    "attention",
	Sizes:   []string{"batch", "heads", "seqq", "seqk", "dim"},
	Causal:  true,
	Tensors: attentionTensors,
	Rules: func(c wire.Case) error {
		if s := c.Attention(); s.Causal && s.SeqK < s.SeqQ {
			return fmt.Errorf("attention of %v: some queries would see no key, which op \"attention\" does not ask for", s)
		}
		return attentionRules(c)
	},
	Judge: judgeAttention,
	Least: once,
	Timed: timedAttention,
}

func attentionRules(c wire.Case) error {
	if c.Dist == tensor.Masked {
		return fmt.Errorf("attention of masked inputs: -Inf times 0 is NaN; causal = true masks")
	}
	return nil
}

// attentionTensors: the case's distribution is that of q alone, so that scores
// are as large as it makes them, and v stays ordinary. Numbers of many sizes are
// wanted everywhere.
func attentionTensors(c wire.Case) (in, out []wire.Tensor) {
	s := c.Attention()
	q := []int{s.Batch, s.Heads, s.SeqQ, s.Dim}
	kv := []int{s.Batch, s.KVHeads, s.SeqK, s.Dim}
	dist := tensor.Normal
	if c.Dist == tensor.Uneven {
		dist = tensor.Uneven
	}
	return []wire.Tensor{{Name: "q", Shape: q}, {Name: "k", Shape: kv, Dist: dist}, {Name: "v", Shape: kv, Dist: dist}},
		[]wire.Tensor{{Name: "out", Shape: q}}
}

func judgeAttention(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
	s := c.Attention()
	p := problem{s, in[0].Data, in[1].Data, in[2].Data}
	got := out.Tensors[0].Data
	t := oracle.AttentionTruth(p.q, p.k, p.v, s)
	return judge(c, s, t, got, func(j oracle.Judgement) string { return p.pattern(t, got, j) })
}
