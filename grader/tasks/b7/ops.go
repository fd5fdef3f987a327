// Package b7 is all that the grader knows of bonus task b7: a cache of 8 or 4 bits.
package b7

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// Ops are what task b7 is asked for, in 8 and in 4 bits: writing tokens, a step of decoding, and both
// in turns while sequences begin anew.
var Ops = judge.Ops{appendOp(8), appendOp(4), decodeOp(8), decodeOp(4), turnsOp(8), turnsOp(4)}

// fault says what is wrong with a case that adds so many tokens.
func fault(c problem.Problem, more int) string {
	s := c.Cache()
	switch {
	case s.Dim != 64 && s.Dim != 128:
		return fmt.Sprintf("the head dimension is %d, and 64 and 128 are served", s.Dim)
	case s.MaxSeq%group != 0:
		return fmt.Sprintf("a sequence has %d slots, and a group of %d would cross two sequences", s.MaxSeq, group)
	case c.Sizes["heads"]%s.KVHeads != 0: // 0 where there are none
		return fmt.Sprintf("%d query heads cannot share %d key heads evenly", c.Sizes["heads"], s.KVHeads)
	}
	for b, length := range c.Each {
		if length < 0 || length+more > s.MaxSeq {
			return fmt.Sprintf("the length of sequence %d is %d, and there are %d slots", b, length, s.MaxSeq)
		}
	}
	return ""
}
