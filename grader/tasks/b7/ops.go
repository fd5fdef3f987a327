// Package b7 is all that the grader knows of bonus task b7: a cache of 8 or 4 bits.
package b7

import (
	"cmp"
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
)

// Ops are what task b7 is asked for, in 8 and in 4 bits: writing tokens, a step of decoding, and both
// in turns while sequences begin anew.
var Ops = judge.Ops{appendOp(8), appendOp(4), decodeOp(8), decodeOp(4), turnsOp(8), turnsOp(4)}

// fault says what is wrong with a case that adds so many tokens.
func fault(c problem.Problem, more int) string {
	if why := shared.ServedDim(c); why != "" {
		return why
	}
	if slots := c.Sizes["slots"]; slots%group != 0 {
		return fmt.Sprintf("a sequence has %d slots, and a group of %d would cross two sequences", slots, group)
	}
	return cmp.Or(shared.EvenHeads(c), shared.Lengths(c, more)) // of an append there are 0 query heads
}
