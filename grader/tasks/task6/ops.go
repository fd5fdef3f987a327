// Package task6 is all that the grader knows of task 6: the attention layer, in a Llama-like model.
package task6

import (
	"flashlab/grader/grading/judge"
)

// Ops are what task 6 is asked for.
var Ops = judge.Ops{prompt, layer, ragged, recorded, rightKernels, model, fresh}
