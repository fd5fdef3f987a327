package b10

import (
	"fmt"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// timed is what timing needs to know. There is no baseline: versions are compared with each other. lse and out are random
// like all else, so P's rows add up to anything; no kernel takes another way for that.
func timed(name string, ty tensor.Type) *judge.Timed {
	tensorCores := 0.0
	if ty != tensor.Float32 {
		tensorCores = 1
	}
	return &judge.Timed{
		Title: func(n []int, causal bool) (string, string) {
			mask := judge.Mask(causal)
			return fmt.Sprintf("gradients of attention in %s, batch %d, %d heads × %d, sequence %d, %s", ty, n[0], n[1], n[5], n[4], mask),
				fmt.Sprintf("%s-%d-%d-%d-%d-%s", name, n[0], n[1], n[4], n[5], mask)
		},
		Small:    []int{1, 4, 2, 33, 70, 64},
		SelfTest: rubric.Rung{Op: name, Shape: []int{4, 32, 32, 4096, 4096, 128}},
		Tensor:   tensorCores,
		Piece:    shared.TimedAttention.Piece,
		FLOPS: func(c problem.Problem) float64 { // five products where the forward pass has two
			return 2.5 * shared.TimedAttention.FLOPS(c)
		},
		Truth: func(c problem.Problem, from int) judge.Truth { return piece(c, 0, from/c.Attention().Dim) },
		Rest:  rest,
	}
}

// piece is the truth of a row of a gradient: of dq by its query and the keys that it sees, of dk and dv by their key and
// the queries that see it.
func piece(c problem.Problem, which, row int) judge.Truth {
	s, part := c.Attention(), backward{ty: c.Inputs[0].Type, s: attn.Shape{Batch: 1, KVHeads: 1, Dim: c.Attention().Dim}}
	queries := func(first, n int) {
		for i, to := range map[int]*[]float32{0: &part.q, 3: &part.out, 5: &part.dOut} {
			*to = append(*to, judge.InputPart(c, i, first*s.Dim, n*s.Dim)...)
		}
		part.lse = append(part.lse, judge.InputPart(c, 4, first, n)...)
	}
	keys := func(first, n int) {
		part.k, part.v = judge.InputPart(c, 1, first*s.Dim, n*s.Dim), judge.InputPart(c, 2, first*s.Dim, n*s.Dim)
	}
	if which == 0 {
		seen := s.SeqK
		if s.Causal {
			seen = min(max(row%s.SeqQ+1+s.SeqK-s.SeqQ, 0), s.SeqK)
		}
		part.s.Heads, part.s.SeqQ, part.s.SeqK = 1, 1, seen
		queries(row, 1)
		keys(backward{s: s}.keyHead(row/s.SeqQ, way{})*s.SeqK, seen)
		return part.truth(which)
	}
	first, head := 0, row/s.SeqK
	if s.Causal {
		first = max(row%s.SeqK-(s.SeqK-s.SeqQ), 0)
	}
	group := s.Heads / s.KVHeads
	part.s.Heads, part.s.SeqQ, part.s.SeqK = group, s.SeqQ-first, 1
	keys(row, 1)
	for h := range group { // query heads of a key head follow each other
		queries((head*group+h)*s.SeqQ+first, s.SeqQ-first)
	}
	return part.truth(which)
}

// rest is some rows of dk and dv for a row of dq: as many as reach all of them.
func rest(c problem.Problem, from int) ([]judge.Span, func(got [][]float32) string) {
	s := c.Attention()
	queries, keys := s.QElements()/s.Dim, s.KVElements()/s.Dim
	each := (keys + queries - 1) / queries
	first := from / s.Dim % ((keys + each - 1) / each) * each
	n := min(each, keys-first)
	var spans []judge.Span
	for which := range names[1:] {
		spans = append(spans, judge.Span{Output: which + 1, From: first * s.Dim, Size: n * s.Dim})
	}
	return spans, func(got [][]float32) string {
		for i, name := range names[1:] {
			var truths []judge.Truth
			for row := range n {
				truths = append(truths, piece(c, i+1, first+row))
			}
			if j := judge.Concat(truths).Judge(got[i]); !j.Passed {
				return fmt.Sprintf("element %d of %s is %g, want %g (error %.2g of the row's size, %.2g allowed)",
					first*s.Dim+j.Worst, name, j.Got, j.Want, j.Error, j.Bound)
			}
		}
		return ""
	}
}
