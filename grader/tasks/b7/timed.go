package b7

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Baseline reads a cache of as many slots in halves, once, and computes nothing. No step of decoding from halves
// can be faster, and the best are as fast, within some percent: so what is above 1 was gained by fewer bits. It is
// the same whatever a student's task b6 is like, and every GPU reads at its own memory's rate.
const Baseline = "only reading halves"

// timed is what timing needs. Codes, scales and lows are of any bits: nobody could quantise so many in time.
func timed(bits int) *judge.Timed {
	return &judge.Timed{
		Title: func(n []int, _ bool) (string, string) { // one slot is free
			return fmt.Sprintf("decoding in INT%d, batch %d, %d heads × %d, %d key heads, context %d", bits, n[0], n[1], n[4], n[2], n[3]),
				fmt.Sprintf("decode%d-%d-%d", bits, n[0], n[3])
		},
		Memory: true,
		// Queries of many sizes: of small ones all keys have some weight, of large ones few. The four query
		// heads of a key head always have a small one among them: so no value may be left unread.
		Dist:    tensor.Groups,
		Counted: 4,
		Small:   []int{2, 4, 2, 64, 64},
		// The last slot is free: a tile of 8 bits has 31 tokens, and so has the open group of 4 bits.
		Each:              func(shape []int) int { return shape[3] - 1 },
		SelfTest:          rubric.Rung{Op: fmt.Sprintf("decode_int%d", bits), Shape: []int{64, 32, 8, 4096, 128}},
		Baseline:          Baseline,
		Tensor:            1,
		BaselineElsewhere: true,
		Held:              func(c problem.Problem) int64 { return 2 * int64(tensor.Float16.Bytes(c.Cache().Elements())) },
		Piece:             func(c problem.Problem) int { return c.Decode().Dim },
		FLOPS:             shared.DecodeFLOPS,
		// A piece is one query, which needs a single key head of its sequence: every array of a cache begins
		// with sequences and their heads.
		Truth: func(c problem.Problem, from int) judge.Truth {
			s := c.Decode()
			row, pairs := from/s.Dim, s.Batch*s.KVHeads
			sequence, pair := row/s.Heads, row/(s.Heads/s.KVHeads)
			one := s
			one.Batch, one.Heads, one.KVHeads = 1, 1, 1
			part := cache{bits: bits, s: one.CacheShape}
			for i, to := range part.arrays() {
				n := c.Inputs[1+i].Elements() / pairs
				*to = judge.InputPart(c, 1+i, pair*n, n)
			}
			lengths := c.Each[sequence : sequence+1]
			k, v := part.numbers(lengths, reading{})
			return step(shared.Decoding{S: one, Lengths: lengths, Q: judge.InputPart(c, 0, from, s.Dim), K: k, V: v}).Truth().AnyRow()
		},
	}
}
