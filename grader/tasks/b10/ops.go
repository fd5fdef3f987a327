// Package b10 is all that the grader knows of bonus task b10: the gradients of attention.
package b10

import (
	"fmt"
	"math"
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Ops are what task b10 is asked for: a check for each of the three gradients, one for the same bits in a second call, and
// one for each type of 16 bits.
var Ops = judge.Ops{gradient(0), gradient(1), gradient(2), twice(), halves("backward_float16", tensor.Float16), halves("backward_bfloat16", tensor.BFloat16)}

// methods are what the student's functions are called.
var methods = map[tensor.Type]string{tensor.Float32: "Float32", tensor.Float16: "Float16", tensor.BFloat16: "BFloat16"}

// names are the gradients', in the order of the outputs.
var names = []string{"dq", "dk", "dv"}

// gradient is a call that writes all three, of which one is judged: who has one right has its points.
func gradient(which int) judge.Op {
	op := operation("backward_" + names[which])
	op.Judge = func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		if c.Refused {
			return refused(c, out)
		}
		return of(c, in).judge(c, which, out.Tensors[which].Data)
	}
	if which == 0 {
		op.Timed = timed(op.Name, tensor.Float32)
	}
	return op
}

// twice is two calls with the same inputs, each with outputs of its own.
func twice() judge.Op {
	op := operation("backward_twice")
	one := op.Tensors
	op.Tensors = func(c problem.Problem) (in, out []problem.Tensor) {
		in, out = one(c)
		for _, t := range slices.Clone(out) {
			t.Name = "second." + t.Name
			out = append(out, t)
		}
		return in, out
	}
	op.Judge = func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		if r := of(c, in).judgeAll(c, out); !r.Passed {
			return r // bits of a wrong answer are worth nothing
		}
		for i, name := range names {
			if r := sameBits(c, name, out.Tensors[i].Data, out.Tensors[len(names)+i].Data); !r.Passed {
				return r
			}
		}
		return judge.Ruling{Passed: true}
	}
	op.Least, op.Floor = double(op.Least), double(op.Floor)
	return op
}

// halves is a call whose tensors are of 16 bits, but for lse. All three gradients have to be right.
func halves(name string, ty tensor.Type) judge.Op {
	op := operation(name)
	one := op.Tensors
	op.Tensors = func(c problem.Problem) (in, out []problem.Tensor) {
		in, out = one(c)
		for i := range in {
			if in[i].Name != "lse" {
				in[i].Type = ty
			}
		}
		for i := range out {
			out[i].Type = ty
		}
		return in, out
	}
	op.Judge = func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		if c.Refused {
			return refused(c, out)
		}
		return of(c, in).judgeAll(c, out)
	}
	op.Timed = timed(name, ty)
	return op
}

func double(bytes func(problem.Problem) uint64) func(problem.Problem) uint64 {
	return func(c problem.Problem) uint64 { return 2 * bytes(c) }
}

// sameBits compares what two calls wrote.
func sameBits(c problem.Problem, name string, one, two []float32) judge.Ruling {
	differ, first := 0, -1
	for i := range one {
		if math.Float32bits(one[i]) != math.Float32bits(two[i]) {
			if differ++; first < 0 {
				first = i
			}
		}
	}
	if differ == 0 {
		return judge.Ruling{Passed: true}
	}
	return judge.Ruling{
		Reason: fmt.Sprintf("both calls are right, and %d of %d numbers of %s have other bits in the second: a sum whose terms arrive in any order, as by atomicAdd, is rounded otherwise each time. Let one block own each sum", differ, len(one), name),
		Details: []string{fmt.Sprintf("%v", judge.Shapes{Problem: c}),
			fmt.Sprintf("first at number %d: %v, then %v", first, one[first], two[first])},
	}
}

// operation is what all have in common.
func operation(name string) judge.Op {
	return judge.Op{
		Name:   name,
		Sizes:  []string{"batch", "heads", "kvheads", "seqq", "seqk", "dim"},
		Causal: true,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			in, out = shared.Flash.Tensors(c)
			s := c.Attention()
			q := out[0].Shape
			in = append(in, problem.Tensor{Name: "out", Shape: q, Given: true},
				problem.Tensor{Name: "lse", Shape: []int{s.Batch, s.Heads, s.SeqQ}, Given: true},
				problem.Tensor{Name: "dOut", Shape: q, Dist: in[1].Dist})
			return in, []problem.Tensor{{Name: "dq", Shape: q}, {Name: "dk", Shape: in[1].Shape}, {Name: "dv", Shape: in[1].Shape}}
		},
		Prepare: prepare,
		Rules:   shared.GroupedRules,
		Fault:   shared.ServedDim,
		Least:   inTiles,
		Against: fmt.Sprintf("gradients in tiles of %d queries and %d keys", tile, tile),
		Floor:   once,
		Scratch: shared.Flash.Scratch, // some numbers a query, D say; none for each pair
	}
}

func refused(c problem.Problem, out problem.Answer) judge.Ruling {
	var before [][]float32
	for _, t := range out.Tensors {
		before = append(before, judge.NoNumbers(len(t.Data)))
	}
	return judge.JudgeRefused(c, out, methods[c.Inputs[0].Type], shared.ServedDim(c), before...)
}

func of(c problem.Problem, in []*tensor.Tensor) backward {
	return backward{c.Attention(), c.Inputs[0].Type, in[0].Data, in[1].Data, in[2].Data, in[3].Data, in[4].Data, in[5].Data}
}

// judgeAll decides on all outputs.
func (b backward) judgeAll(c problem.Problem, out problem.Answer) judge.Ruling {
	for i, t := range out.Tensors {
		if r := b.judge(c, i, t.Data); !r.Passed {
			return r
		}
	}
	return judge.Ruling{Passed: true}
}

// judge decides on output number at, which may be a second call's.
func (b backward) judge(c problem.Problem, at int, got []float32) judge.Ruling {
	which := at % len(names)
	t := b.truth(which)
	c.Outputs = c.Outputs[at : at+1]
	r := judge.Rule(c, b.s, t, got, func(j judge.Judgement) string {
		if why := b.nan(got); why != "" {
			return why
		}
		return t.Recognise(got, j, b.mistakes(which)...)
	})
	if !r.Passed {
		r.Reason = c.Outputs[0].Name + ": " + r.Reason
	}
	return r
}

// rowBytes is what a row of Dim numbers takes.
func rowBytes(c problem.Problem) uint64 { return uint64(c.Inputs[0].Type.Bytes(c.Attention().Dim)) }

// once is what no kernel can do without: the outputs, and the inputs but for what belongs to queries that see no key,
// for these add to no sum.
func once(c problem.Problem) uint64 {
	s, blind := c.Attention(), 0
	if s.Causal {
		blind = max(s.SeqQ-s.SeqK, 0)
	}
	return judge.Once(c) - uint64(s.Batch*s.Heads*blind)*(3*rowBytes(c)+4)
}

// tile is the queries, and the keys, that share what they read of each other in what traffic is held against.
const tile = 32

// inTiles is the traffic of two passes over tiles: one that owns dk and dv of a tile of keys and reads all queries that see
// any of them, and one that owns dq of a tile of queries and reads the keys that any of these sees. A query's numbers
// are its rows of q, out and dOut, from which D is made, and its lse.
func inTiles(c problem.Problem) uint64 {
	s := c.Attention()
	row := rowBytes(c)
	query, key := 3*row+4, 2*row
	heads, keyHeads := uint64(s.Batch*s.Heads), uint64(s.Batch*s.KVHeads)
	seeing := 0 // queries that the tiles of keys read, for a query head
	for first := 0; first < s.SeqK; first += tile {
		seeing += s.SeqQ
		if s.Causal {
			seeing -= min(max(first-(s.SeqK-s.SeqQ), 0), s.SeqQ)
		}
	}
	seen := uint64(shared.SeenInTiles(c, tile))
	owned := keyHeads*uint64(s.SeqK)*2*key + heads*uint64(s.SeqQ)*(query+row) // read and written by their owners
	return owned + heads*(uint64(seeing)*query+seen*key)
}
