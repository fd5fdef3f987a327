package b3

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

func timed(name string, f format) *judge.Timed {
	flash := shared.TimedAttention
	return &judge.Timed{
		Title: func(n []int, causal bool) (string, string) {
			mask := judge.Mask(causal)
			return fmt.Sprintf("attention in INT8, batch %d, %d heads × %d, sequence %d, %s", n[0], n[1], n[5], n[4], mask),
				fmt.Sprintf("int8-%d-%d-%d-%d-%s", n[0], n[1], n[4], n[5], mask)
		},
		Counted:  1,
		Small:    []int{1, 2, 2, 33, 33, 64},
		SelfTest: rubric.Rung{Op: name, Shape: []int{4, 32, 32, 4096, 4096, 128}},
		Baseline: Baseline,
		Wide:     Wide,
		Tensor:   0.75, // scores at twice the rate of halves, the sum over keys at theirs
		Piece:    flash.Piece,
		FLOPS:    flash.FLOPS,
		// The baseline's tensors are in float32.
		Held: func(c problem.Problem) int64 {
			return 2 * int64(judge.Bytes(c.Inputs, c.Outputs[:1]))
		},
		Truth: func(c problem.Problem, from int) judge.Truth { return pieceOf(f, c, from) },
		Rest:  func(c problem.Problem, from int) ([]judge.Span, func([][]float32) string) { return restOf(f, c, from) },
	}
}

// pieceOf is one row's truth: attention of the inputs. Its plain way is that of the course's own codes, so
// what these cost is allowed for; correctness is what smaller cases are for. Per tensor, the range is
// taken of the row's head alone, not of all.
func pieceOf(f format, c problem.Problem, from int) judge.Truth {
	s := c.Attention()
	row := from / s.Dim
	head, query := row/s.SeqQ, row%s.SeqQ
	first := query / block * block
	rows := min(block, s.SeqQ-first)
	// A block of queries, which has a scale, against all of its head's keys, which have means.
	part := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: rows, SeqK: s.SeqK, Dim: s.Dim}
	q := judge.InputPart(c, 0, (head*s.SeqQ+first)*s.Dim, rows*s.Dim)
	keys := keyRow(s, row, 0) * s.Dim
	k, v := judge.InputPart(c, 1, keys, s.SeqK*s.Dim), judge.InputPart(c, 2, keys, s.SeqK*s.Dim)
	own := f.encode(part, q, k, v)

	seen := s.SeqK
	if s.Causal {
		seen = max(query+1+s.SeqK-s.SeqQ, 0)
	}
	if seen == 0 {
		return judge.Truth{Layout: judge.Layout{Outer: 1, Len: s.Dim, Inner: 1}, Type: tensor.Float16, Want: make([]float64, s.Dim), Plain: make([]float32, s.Dim), Scale: make([]float64, 1)}
	}
	one := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: seen, Dim: s.Dim}
	at := query - first
	mine := q[at*s.Dim : (at+1)*s.Dim]
	t := shared.Mixed{S: one, Type: tensor.Float16, Q: mine, K: k[:seen*s.Dim], V: v[:seen*s.Dim]}.Truth()
	values := v
	if len(own.coded) > 2 {
		values = own.coded[2].values()
	}
	t.Plain = shared.Mixed{S: one, Type: tensor.Float16, Q: mine, V: values[:seen*s.Dim],
		Score: func(_, key int) float64 { return own.score(at, key) }}.Compute(shared.PlainWay(tensor.Float16))
	return t
}
