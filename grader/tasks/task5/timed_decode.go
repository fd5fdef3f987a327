package task5

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
)

// timedDecode is what timing needs of decoding, split or not: they differ in the shape for the
// simulator alone.
func timedDecode(small ...int) *judge.Timed {
	return &judge.Timed{
		Small:    small,
		SelfTest: rubric.Rung{Op: "decode", Shape: []int{16, 32, 32, 1024, 128}},
		Piece:    func(c problem.Problem) int { return c.Decode().Dim },
		Truth: func(c problem.Problem, from int) judge.Truth {
			s := c.Decode()
			row := from / s.Dim
			sequence, head := row/s.Heads, row%s.Heads/(s.Heads/s.KVHeads)
			var k, v []float32
			for slot := s.First(c.Each[sequence]); slot < c.Each[sequence]; slot++ {
				at := (sequence*s.MaxSeq+slot)*s.Slot() + head*s.Dim
				k, v = append(k, judge.InputPart(c, 1, at, s.Dim)...), append(v, judge.InputPart(c, 2, at, s.Dim)...)
			}
			return shared.OneRow(judge.InputPart(c, 0, from, s.Dim), k, v, s.Dim)
		},
		FLOPS: func(c problem.Problem) float64 {
			s := c.Decode()
			slots := 0
			for _, n := range c.Each {
				slots += n - s.First(n)
			}
			return 4 * float64(slots) * float64(s.Heads) * float64(s.Dim)
		},
	}
}
