// Package task2 is all that the grader knows of task 2: softmax, products, and attention from both.
package task2

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// Ops are what task 2 is asked for.
var Ops = judge.Ops{shared.Softmax, shared.Gemm("gemm_nt", true), shared.Gemm("gemm_nn", false), shared.Attention}
