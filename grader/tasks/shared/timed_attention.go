package shared

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
)

var TimedAttention = &judge.Timed{
	Tensor:   3,
	Counted:  1,
	Small:    []int{1, 2, 33, 33, 16},
	SelfTest: rubric.Rung{Op: "flash", Shape: []int{16, 32, 1024, 1024, 128}},
	Piece:    func(c problem.Problem) int { return c.Attention().Dim },
	Truth: func(c problem.Problem, from int) judge.Truth {
		s := c.Attention()
		row := from / s.Dim
		head, query := row/s.SeqQ, row%s.SeqQ
		seen := s.SeqK
		if s.Causal {
			seen = max(query+1+s.SeqK-s.SeqQ, 0)
		}
		keys := (head/s.Heads*s.KVHeads + head%s.Heads/(s.Heads/s.KVHeads)) * s.SeqK * s.Dim
		return OneRow(judge.InputPart(c, 0, from, s.Dim), judge.InputPart(c, 1, keys, seen*s.Dim), judge.InputPart(c, 2, keys, seen*s.Dim), s.Dim)
	},
	Title: func(n []int, causal bool) (string, string) {
		mask := judge.Mask(causal)
		return fmt.Sprintf("attention, batch %d, %d heads × %d, sequence %d, %s", n[0], n[1], n[4], n[3], mask), fmt.Sprintf("flash-%d-%d-%s", n[0], n[3], mask)
	},
	FLOPS: func(c problem.Problem) float64 {
		s := c.Attention()
		pairs := 0
		for i := range s.SeqQ {
			seen := s.SeqK
			if s.Causal {
				seen = min(max(i+1+s.SeqK-s.SeqQ, 0), s.SeqK)
			}
			pairs += seen
		}
		return 4 * float64(s.Batch*s.Heads) * float64(pairs) * float64(s.Dim)
	},
}

// OneRow is the attention of one query to all keys given.
func OneRow(q, k, v []float32, dim int) judge.Truth {
	if len(k) == 0 {
		return judge.Truth{Layout: judge.Layout{Outer: 1, Len: dim, Inner: 1}, Want: make([]float64, dim), Plain: make([]float32, dim), Scale: make([]float64, 1)}
	}
	s := problem.Problem{Sizes: map[string]int{"batch": 1, "heads": 1, "seqq": 1, "seqk": len(k) / dim, "dim": dim}}
	return AttentionTruth(q, k, v, s.Attention())
}
