// Package b6 is all that the grader knows of bonus task b6: decoding against a cache in float16 and
// bfloat16.
package b6

import (
	"cmp"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Ops are what task b6 is asked for: a step in each of the two types, and one that was recorded in a
// graph when the lengths were others.
var Ops = judge.Ops{
	step("decode_float16", "Float16", tensor.Float16),
	step("decode_bfloat16", "BFloat16", tensor.BFloat16),
	step("decode_recorded", "Float16", tensor.Float16),
}

// step is one step of decoding. each says how many slots of a sequence are filled, which may be none.
// The others hold NaN.
func step(name, method string, ty tensor.Type) judge.Op {
	return judge.Op{
		Name:  name,
		Sizes: []string{"batch", "heads", "kvheads", "slots", "dim"},
		Each:  "length",
		Rules: shared.AttentionRules,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s := c.Decode()
			q, cache := []int{s.Batch, s.Heads, s.Dim}, []int{s.Batch, s.MaxSeq, s.KVHeads, s.Dim}
			return []problem.Tensor{{Name: "q", Shape: q, Type: ty}, {Name: "k", Shape: cache, Given: true, Type: ty}, {Name: "v", Shape: cache, Given: true, Type: ty}},
				[]problem.Tensor{{Name: "out", Shape: q, Type: ty}}
		},
		Fault:   fault,
		Prepare: shared.FillCache,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			got := out.Tensors[0].Data
			if c.Refused {
				return judge.JudgeRefused(c, out, method, fault(c), judge.NoNumbers(len(got)))
			}
			d := on(c, in, ty)
			t := d.Truth()
			return judge.Rule(c, d, t, got, func(j judge.Judgement) string { return d.pattern(t, got, j) })
		},
		Least:   shared.LeastDecode,
		Against: "each filled slot once",
		Timed:   timed(name, ty),
	}
}

// fault says what is wrong with a case.
func fault(c problem.Problem) string {
	return cmp.Or(shared.EvenHeads(c), shared.ServedDim(c), shared.Lengths(c, 0))
}

// decoding is a step in halves.
type decoding struct {
	shared.MixedDecoding
	recorded bool
}

// on is the step of a case.
func on(c problem.Problem, in []*tensor.Tensor, ty tensor.Type) decoding {
	return decoding{shared.MixedDecoding{Decoding: shared.Decoding{S: c.Decode(), Lengths: c.Each, Q: in[0].Data, K: in[1].Data, V: in[2].Data}, Type: ty},
		c.Op == "decode_recorded"}
}
