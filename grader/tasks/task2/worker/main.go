// Command task2 runs a submission of task 2 for the grader.
package main

import (
	"flashlab/grader/grading/worker"
	unfused "flashlab/task2_unfused"
)

func main() {
	it := worker.Once(unfused.New)
	worker.Main(map[string]worker.Op{
		"softmax":   worker.Softmax(it),
		"gemm_nt":   worker.Gemm(it, true),
		"gemm_nn":   worker.Gemm(it, false),
		"attention": worker.Attention(it),
	})
}
