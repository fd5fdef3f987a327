package task1

import (
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// splitHeads turns [batch, seq, heads × dim] into [batch, heads, seq, dim].
var splitHeads = judge.Op{
	Name:  "split_heads",
	Sizes: []string{"batch", "seq", "heads", "dim"},
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		s := c.Sizes
		return []problem.Tensor{{Name: "x", Shape: []int{s["batch"], s["seq"], s["heads"] * s["dim"]}}},
			[]problem.Tensor{{Name: "result", Shape: []int{s["batch"], s["heads"], s["seq"], s["dim"]}}}
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		x, s := in[0].Data, c.Sizes
		return judge.JudgeExact(c, in, out.Tensors[0].Data, shared.SplitUp(x, s["batch"], s["seq"], s["heads"], s["dim"]),
			judge.Like(x, "the numbers lie as they did in x: a change of shape alone moves nothing, but each head has to be in one piece"),
			judge.Like(shared.TransposeAll(shared.SplitUp(x, s["batch"], s["seq"], s["heads"], s["dim"]), s["seq"], s["dim"]), "each head is transposed: it is [dim, seq], want [seq, dim]"),
			judge.Like(shared.Every(x, s["batch"], s["seq"], s["heads"], s["dim"]), "head 0 has every heads-th value of each position: it gets the first dim of them in one piece"),
		)
	},
	Least: judge.Once,
}

// mergeHeads turns [batch, heads, seq, dim] into [batch, seq, heads × dim].
var mergeHeads = judge.Op{
	Name:  "merge_heads",
	Sizes: []string{"batch", "heads", "seq", "dim"},
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		s := c.Sizes
		return []problem.Tensor{{Name: "x", Shape: []int{s["batch"], s["heads"], s["seq"], s["dim"]}}},
			[]problem.Tensor{{Name: "result", Shape: []int{s["batch"], s["seq"], s["heads"] * s["dim"]}}}
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		x, s := in[0].Data, c.Sizes
		swapped := shared.TransposeAll(shared.JoinUp(x, s["batch"], s["seq"], s["heads"], s["dim"]), s["heads"], s["dim"])
		return judge.JudgeExact(c, in, out.Tensors[0].Data, shared.JoinUp(x, s["batch"], s["seq"], s["heads"], s["dim"]),
			judge.Like(x, "the numbers lie as they did in x: a change of shape alone moves nothing, but each position has to be in one piece"),
			judge.Like(shared.Reversed(x, s["batch"], s["seq"], s["heads"], s["dim"]), "heads are merged in the wrong order: the last head comes first in each position"),
			judge.Like(swapped, "heads are merged in the wrong order: a position has all of head 0 first, then all of head 1, not one value of each in turn"),
		)
	},
	Least: judge.Once,
}

// causalMask puts -Inf where the key comes after the query.
var causalMask = judge.Op{
	Name:  "mask",
	Sizes: []string{"batch", "heads", "seqq", "seqk"},
	Rules: shared.KeysForAll,
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		s := shared.ScoresShape(c)
		return []problem.Tensor{{Name: "scores", Shape: s}}, []problem.Tensor{{Name: "result", Shape: s}}
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		x, s := in[0].Data, attn.Shape{SeqQ: c.Sizes["seqq"], SeqK: c.Sizes["seqk"], Causal: true}
		hide := func(with float64, sees func(i, j int) bool) []float32 {
			return shared.Hidden(x, s, float32(with), sees)
		}
		negInf := math.Inf(-1)
		last := s.SeqK - s.SeqQ
		return judge.JudgeExact(c, in, out.Tensors[0].Data, hide(negInf, s.Sees),
			judge.Like(x, "nothing is masked: put -Inf where query i does not see key j"),
			judge.Like(hide(negInf, func(i, j int) bool { return j <= i+last+1 }), "the mask is off by one: each query sees one key too many. Query i sees keys 0 … i + seqK - seqQ"),
			judge.Like(hide(negInf, func(i, j int) bool { return j < i+last }), "the mask is off by one: each query sees one key too few. Query i sees keys 0 … i + seqK - seqQ"),
			judge.Like(hide(negInf, func(i, j int) bool { return j <= i }), "the mask starts at the wrong corner: the last query is aligned with the last key, so query i sees keys 0 … i + seqK - seqQ"),
			judge.Like(hide(negInf, func(i, j int) bool { return j >= i+last }), "the mask hides the keys before the query: hide those after it"),
			judge.Like(hide(0, s.Sees), "masked scores are 0, which is a score like any other: put -Inf there"),
		)
	},
	Least: judge.Once,
}
