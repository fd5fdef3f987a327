// Package task7 is all that the grader knows of task 7: GPT-2 on a student's kernels.
package task7

import (
	"flashlab/grader/grading/judge"
)

// Ops are what task 7 is asked for.
var Ops = judge.Ops{gpt2Logits, gpt2Closer, gpt2Text}
