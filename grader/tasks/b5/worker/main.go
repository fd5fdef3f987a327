// Command worker runs a submission of bonus task b5 for the grader.
package main

import (
	fourbit "flashlab/bonus/b5_fourbit"
	"flashlab/device"
	"flashlab/grader/grading/worker"
)

// The compiler says where a submission's methods are not those of the contract.
var _ interface {
	DequantiseNF4(out device.Buffer[float32], w fourbit.NF4) error
	DequantiseMXFP4(out device.Buffer[float32], w fourbit.MXFP4, row int) error
	ProjectNF4(q, k, v, x fourbit.Halves, w fourbit.NF4, bias fourbit.Halves, p fourbit.Projection) error
	ProjectMXFP4(q, k, v, x fourbit.Halves, w fourbit.MXFP4, bias fourbit.Halves, p fourbit.Projection) error
} = (*fourbit.Fourbit)(nil)

func main() {
	it := worker.Once(fourbit.New)
	worker.Main(map[string]worker.Op{
		"dequantise_nf4":   worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).DequantiseNF4),
		"dequantise_mxfp4": worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).DequantiseMXFP4, "row"),
		"project_nf4":      worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).ProjectNF4),
		"project_mxfp4":    worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).ProjectMXFP4),
	})
}
