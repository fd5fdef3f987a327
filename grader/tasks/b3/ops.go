// Package b3 is all that the grader knows of bonus task b3: attention by way of codes of 8 bits.
package b3

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Ops are what task b3 is asked for: two ways to choose scales.
var Ops = judge.Ops{
	coded("int8_tensor", "PerTensor", tensorFormat{}),
	coded("int8_block", "ByBlock", blockFormat{}),
}

// coded is attention of float16 tensors by way of codes, which are outputs as well. Query heads may
// share key heads.
func coded(name, method string, f format) judge.Op {
	return judge.Op{
		Name:   name,
		Sizes:  []string{"batch", "heads", "kvheads", "seqq", "seqk", "dim"},
		Causal: true,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			in, out = shared.Flash.Tensors(c)
			for i := range in {
				in[i].Type = tensor.Float16
			}
			if c.Dist == tensor.Columns { // outliers are k's
				in[0].Dist, in[1].Dist = tensor.Normal, tensor.Columns
			}
			out[0].Type = tensor.Float16
			return in, append(out, f.outputs(c.Attention())...)
		},
		Rules: shared.GroupedRules,
		Fault: shared.ServedDim,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			if c.Refused {
				return judge.JudgeRefused(c, out, method, shared.ServedDim(c), before(c)...)
			}
			return job{c, c.Attention(), in[0].Data, in[1].Data, in[2].Data, f}.rule(out)
		},
		Least:   least(f),
		Against: fmt.Sprintf("quantising once, and attention in tiles of %d queries", tile),
		Floor:   judge.Once,
		Timed:   timed(name, f),
		Scratch: scratch,
	}
}

// format is a way to choose scales.
type format interface {
	// outputs are what is written besides out.
	outputs(s shape) []problem.Tensor
	// encode is what the course makes of inputs.
	encode(s shape, q, k, v []float32) codes
	// read is what an answer has; why says which of its numbers are no numbers.
	read(s shape, q, k, v []float32, out []*tensor.Tensor) (c codes, why string)
	// spans are a row of each tensor's codes, which begin at from, and of whatever else says what these mean;
	// one is the row's own answer of these.
	spans(s shape, from [3]int) (all []judge.Span, one func(got [][]float32) []coding)
	// passes are how often each number of q, k and v is moved to quantise it, in bytes; a value is of so
	// many bytes after that.
	passes() (q, k, v, value int)
	// mistakes are outputs that one gets by mistake with these codes.
	mistakes(j job, c codes) []judge.Mistake
	// blames says why codes cost more than they need; "" where that is not known.
	blames(j job, c, own codes) string
}

// before is what outputs of a case hold that is refused.
func before(c problem.Problem) (all [][]float32) {
	for _, t := range c.Outputs {
		x := judge.NoNumbers(t.Elements())
		if t.Type == tensor.Int8 {
			for i := range x {
				x[i] = -1 // all bits 1
			}
		}
		all = append(all, x)
	}
	return all
}

// tile is the queries that share what they read of keys and values, in what traffic is held against.
const tile = 64

// least is the traffic of quantising each tensor in passes over it, and of an attention of whose
// queries so many share what they read. Scales are nothing beside it.
func least(f format) func(c problem.Problem) uint64 {
	return func(c problem.Problem) uint64 {
		s := c.Attention()
		q, k, v, value := f.passes()
		bytes := s.QElements()*(q+1+2) + s.KVElements()*(k+v)
		bytes += s.Batch * s.Heads * s.Dim * shared.SeenInTiles(c, tile) * (1 + value)
		return uint64(bytes)
	}
}

// scratch leaves room for some numbers a row, such as sums of its codes, and for what smaller cases left.
func scratch(c problem.Problem) uint64 {
	s := c.Attention()
	return 1<<16 + 4*uint64(16*s.Batch*s.Heads*max(s.SeqQ, s.SeqK))
}
