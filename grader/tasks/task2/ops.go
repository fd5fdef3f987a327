package task2

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// Ops are what task 2 is asked for.
var Ops = judge.Ops{
	judge.Keeping(shared.Softmax), judge.Keeping(shared.Gemm("gemm_nt", true)), judge.Keeping(shared.Gemm("gemm_nn", false)),
	judge.Keeping(shared.Attention),
}
