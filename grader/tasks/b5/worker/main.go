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

var _ interface {
	DequantiseNVFP4(out device.Buffer[float32], w fourbit.NVFP4, row int) error
	ProjectNVFP4(q, k, v, x fourbit.Halves, w fourbit.NVFP4, bias fourbit.Halves, p fourbit.Projection) error
} = (*fourbit.TwoLevel)(nil)

func main() {
	it, twoLevel := worker.Once(fourbit.New), worker.Once(fourbit.NewTwoLevel)
	worker.Main(map[string]worker.Op{
		"dequantise_nf4":   worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).DequantiseNF4),
		"dequantise_mxfp4": worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).DequantiseMXFP4, "row"),
		"project_nf4":      worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).ProjectNF4),
		"project_mxfp4":    worker.Calls(it, "fourbit.go", (*fourbit.Fourbit).ProjectMXFP4),
		"dequantise_nvfp4": worker.Calls(twoLevel, "nvfp4.go", (*fourbit.TwoLevel).DequantiseNVFP4, "row"),
		"project_nvfp4":    worker.Calls(twoLevel, "nvfp4.go", (*fourbit.TwoLevel).ProjectNVFP4),
	})
}
