// Command worker runs a submission of bonus task b5 for the grader.
package main

import (
	fourbit "flashlab/bonus/b5_fourbit"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(fourbit.New)
	worker.Main(map[string]worker.Op{
		"dequantise_nf4":   worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).DequantiseNF4),
		"dequantise_mxfp4": worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).DequantiseMXFP4, "row"),
		"project_nf4":      worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).ProjectNF4),
		"project_mxfp4":    worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).ProjectMXFP4),
	})
}
