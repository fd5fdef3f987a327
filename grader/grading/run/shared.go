package run

import (
	"fmt"

	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// unshared fails a case whose work is not shared among as many blocks as it has to be, or of which one block
// does too much: blocks that do nothing are none.
func unshared(v *verdict.Outcome, blocks, bytes uint64, seen supervise.Observed) {
	var most, read uint64
	for _, c := range seen.Counts {
		most = max(most, c.Blocks)
		read += c.MostRead
	}
	switch {
	case most < blocks:
		v.Passed = false
		v.Reason = fmt.Sprintf("the values are right, but the work is not split: the largest launch has %s; use one for each part of each key head of each sequence, %d in all", count(most, "block"), blocks)
	case bytes > 0 && read > bytes:
		v.Passed = false
		v.Reason = fmt.Sprintf("the values are right, but the work is not split: one block reads %d bytes of device memory and of other blocks' shared memory, and its part takes less than %d", read, bytes)
	}
}

func count(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
