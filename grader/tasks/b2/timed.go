package b2

import (
	"fmt"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Baseline is attention in three steps, by the vendor's products of halves.
const Baseline = "unfused in halves, cuBLAS"

// Wide is the same in float32, for comparison.
const Wide = "unfused in float32, cuBLAS"

func timed(name string, ty tensor.Type) *judge.Timed {
	flash := shared.TimedAttention
	return &judge.Timed{
		Title: func(n []int, causal bool) (string, string) {
			mask := judge.Mask(causal)
			return fmt.Sprintf("attention in %s, batch %d, %d heads × %d, sequence %d, %s", ty, n[0], n[1], n[5], n[4], mask),
				fmt.Sprintf("halves-%d-%d-%d-%d-%s", n[0], n[1], n[4], n[5], mask)
		},
		Counted:  1,
		Small:    []int{1, 2, 2, 33, 33, 64},
		SelfTest: rubric.Rung{Op: name, Shape: []int{4, 32, 32, 4096, 4096, 128}},
		Baseline: Baseline,
		Wide:     Wide,
		Tensor:   1,
		Piece:    flash.Piece,
		FLOPS:    flash.FLOPS,
		Held:     shared.Twice,
		Truth: func(c problem.Problem, from int) judge.Truth {
			s := c.Attention()
			row := from / s.Dim
			head, query := row/s.SeqQ, row%s.SeqQ
			seen := s.SeqK
			if s.Causal {
				seen = max(query+1+s.SeqK-s.SeqQ, 0)
			}
			one := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: seen, Dim: s.Dim}
			if seen == 0 {
				return judge.Truth{Layout: judge.Layout{Outer: 1, Len: s.Dim, Inner: 1}, Type: ty, Want: make([]float64, s.Dim), Plain: make([]float32, s.Dim), Scale: make([]float64, 1)}
			}
			keys := (head/s.Heads*s.KVHeads + head%s.Heads/(s.Heads/s.KVHeads)) * s.SeqK * s.Dim
			return shared.Mixed{S: one, Type: ty, Q: judge.InputPart(c, 0, from, s.Dim), K: judge.InputPart(c, 1, keys, seen*s.Dim), V: judge.InputPart(c, 2, keys, seen*s.Dim)}.Truth().AnyRow()
		},
	}
}
