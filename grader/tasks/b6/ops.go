// Package b6 is all that the grader knows of bonus task b6: decoding against a cache in float16 and
// bfloat16.
package b6

import (
	"fmt"
	"math"

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
		Prepare: fill,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			got := out.Tensors[0].Data
			if c.Refused {
				return judge.JudgeRefused(c, out, method, fault(c), judge.NoNumbers(len(got)))
			}
			d := decoding{shared.Decoding{S: c.Decode(), Lengths: c.Each, Q: in[0].Data, K: in[1].Data, V: in[2].Data}, ty, name == "decode_recorded"}
			t := d.truth()
			return judge.Rule(c, d, t, got, func(j judge.Judgement) string { return d.pattern(t, got, j) })
		},
		Least:   least,
		Against: "each filled slot once",
		Timed:   timed(name, ty),
	}
}

// fault says what is wrong with a case.
func fault(c problem.Problem) string {
	s := c.Decode()
	switch {
	case s.Heads%s.KVHeads != 0:
		return fmt.Sprintf("%d query heads cannot share %d key heads evenly", s.Heads, s.KVHeads)
	case s.Dim != 64 && s.Dim != 128:
		return fmt.Sprintf("the head dimension is %d, and 64 and 128 are served", s.Dim)
	}
	for b, length := range c.Each {
		if length < 0 || length > s.MaxSeq {
			return fmt.Sprintf("the length of sequence %d is %d, and there are %d slots", b, length, s.MaxSeq)
		}
	}
	return ""
}

// fill fills the first slots of each sequence.
func fill(c problem.Problem, in []*tensor.Tensor) error {
	s := c.Decode()
	for i := 1; i < 3; i++ {
		if err := tensor.FillAs(in[i].Type, in[i].Data, tensor.Normal, c.Seed, c.Inputs[i].Stream, 0); err != nil {
			return err
		}
		for at := range in[i].Data {
			if token := at / s.Slot(); token%s.MaxSeq >= c.Each[token/s.MaxSeq] {
				in[i].Data[at] = float32(math.NaN())
			}
		}
	}
	return nil
}

// least: q, out, and the filled slots of each cache once, however many query heads share them.
func least(c problem.Problem) uint64 {
	s := c.Decode()
	slots := 0
	for _, length := range c.Each {
		slots += length
	}
	return 2 * uint64(2*s.Batch*s.Heads*s.Dim+2*slots*s.Slot())
}

// decoding is a step in halves.
type decoding struct {
	shared.Decoding
	ty       tensor.Type
	recorded bool
}

func (d decoding) String() string { return fmt.Sprintf("%v, %v", d.Decoding, d.ty) }

// query is the attention of one query head of a sequence to its keys.
func (d decoding) query(row int) shared.Mixed {
	s := d.S
	var k, v []float32
	for _, at := range shared.CacheRows(s, d.Lengths)(row/s.Heads, row%s.Heads) {
		k, v = append(k, d.K[at:at+s.Dim]...), append(v, d.V[at:at+s.Dim]...)
	}
	return shared.OneMixed(d.ty, d.Q[row*s.Dim:(row+1)*s.Dim], k, v)
}

// truth is what a step is judged by, query by query. Without keys it is zeros.
func (d decoding) truth() judge.Truth {
	var all []judge.Truth
	for row := range d.S.Batch * d.S.Heads {
		all = append(all, d.query(row).Truth())
	}
	return judge.Concat(all)
}
