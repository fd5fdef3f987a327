// Package task1 is all that the grader knows of task 1: attention in plain Go, step by step.
package task1

import (
	"flashlab/grader/grading/judge"
)

// Ops are what task 1 is asked for.
var Ops = judge.Ops{splitHeads, scores, causalMask, softmaxRows, weightedSum, mergeHeads, multihead}
