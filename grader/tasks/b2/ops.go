// Package b2 is all that the grader knows of bonus task b2: attention in float16 and bfloat16.
package b2

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Ops are what task b2 is asked for: the two types.
var Ops = judge.Ops{halves("halves_float16", tensor.Float16), halves("halves_bfloat16", tensor.BFloat16)}

// halves is attention whose inputs and output are of 16 bits, and whose sums are not. Query heads
// may share key heads.
func halves(name string, ty tensor.Type) judge.Op {
	return judge.Op{
		Name:   name,
		Sizes:  []string{"batch", "heads", "kvheads", "seqq", "seqk", "dim"},
		Causal: true,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			in, out = shared.Flash.Tensors(c)
			for i := range in {
				in[i].Type = ty
			}
			out[0].Type = ty
			return in, out
		},
		Rules: shared.GroupedRules,
		Fault: shared.ServedDim,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			got := out.Tensors[0].Data
			if c.Refused {
				return judge.JudgeRefused(c, out, methods[ty], shared.ServedDim(c), judge.NoNumbers(len(got)))
			}
			a := shared.Mixed{S: c.Attention(), Type: ty, Q: in[0].Data, K: in[1].Data, V: in[2].Data}
			t := a.Truth()
			return judge.Rule(c, a, t, got, func(j judge.Judgement) string { return a.Pattern(t, got, j, mistakes(a)...) })
		},
		Least:   inTilesOf(tile),
		Against: fmt.Sprintf("attention in tiles of %d queries", tile),
		Floor:   judge.Once,
		Timed:   timed(name, ty),
		Scratch: shared.Flash.Scratch,
	}
}

// methods are what the student's functions are called.
var methods = map[tensor.Type]string{tensor.Float16: "Float16", tensor.BFloat16: "BFloat16"}

// tile is the queries that share what they read of keys and values, in what traffic is held
// against: what four warps have, of 16 rows each.
const tile = 64

// inTilesOf is the traffic of an attention of whose queries so many share what they read: the keys
// and values that any of them sees.
func inTilesOf(queries int) func(c problem.Problem) uint64 {
	return func(c problem.Problem) uint64 {
		s := c.Attention()
		rows := shared.SeenInTiles(c, queries) // of keys, and as many of values, for one head
		return 2 * uint64(s.Batch*s.Heads*s.Dim) * uint64(2*s.SeqQ+2*rows)
	}
}
