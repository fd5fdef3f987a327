// Command worker runs a submission of bonus task b2 for the grader.
package main

import (
	"flashlab/attn"
	halves "flashlab/bonus/b2_halves"
	"flashlab/device"
	"flashlab/grader/grading/worker"
)

// The compiler says where a submission's methods are not those of the contract.
var _ interface {
	Float16(out, q, k, v device.Buffer[device.Float16], s attn.Shape) error
	BFloat16(out, q, k, v device.Buffer[device.BFloat16], s attn.Shape) error
} = (*halves.Halves)(nil)

func main() {
	it := worker.Once(halves.New)
	worker.Main(map[string]worker.Op{
		"halves_float16":  worker.Calls(it, "halves.go", (*halves.Halves).Float16),
		"halves_bfloat16": worker.Calls(it, "halves.go", (*halves.Halves).BFloat16),
	})
}
