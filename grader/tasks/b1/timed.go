package b1

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
)

// Baseline is the same in two steps, by a kernel that rotates and task 4's.
const Baseline = "rotation, then task 4's kernel"

// timed is what timing needs of a rotated attention.
func timed(name string, neighbours bool) *judge.Timed {
	flash := shared.TimedAttention
	return &judge.Timed{
		Title: func(n []int, causal bool) (string, string) {
			mask := judge.Mask(causal)
			return fmt.Sprintf("rotated attention, batch %d, %d heads × %d, sequence %d, %s", n[0], n[1], n[4], n[3], mask),
				fmt.Sprintf("rope-%d-%d-%s", n[0], n[3], mask)
		},
		Counted:   1,
		Small:     []int{1, 2, 33, 33, 16, 10000},
		SelfTest:  rubric.Rung{Op: name, Shape: []int{16, 32, 1024, 1024, 128, 10000}},
		Baseline:  Baseline,
		OwnKernel: "flash",
		Tensor:    3,
		// The queries are the last tokens: their positions are the last ones of the keys.
		Each:  func(shape []int) int { return max(shape[3]-shape[2], 0) },
		Piece: flash.Piece,
		FLOPS: flash.FLOPS,                                                               // a rotation's are few beside them
		Held:  func(c problem.Problem) int64 { return int64(judge.Bytes(c.Inputs[:2])) }, // the baseline's rotated q and k
		Truth: func(c problem.Problem, from int) judge.Truth {
			s := c.Attention()
			head, query := from/s.Dim/s.SeqQ, from/s.Dim%s.SeqQ
			position, seen := c.Each[head/s.Heads]+query, s.SeqK
			if s.Causal {
				seen = min(seen, position+1)
			}
			keys := head * s.SeqK * s.Dim
			r := rope{s: s, base: float64(c.Sizes["base"]), neighbours: neighbours, q: judge.InputPart(c, 0, from, s.Dim),
				k: judge.InputPart(c, 1, keys, seen*s.Dim), v: judge.InputPart(c, 2, keys, seen*s.Dim)}
			return r.row(position).truth()
		},
	}
}
