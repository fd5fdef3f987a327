// Command worker runs a submission of bonus task b3 for the grader.
package main

import (
	"slices"

	"flashlab/attn"
	codes "flashlab/bonus/b3_int8"
	"flashlab/device"
	"flashlab/grader/grading/worker"
)

// The compiler says where a submission's methods are not those of the contract.
var _ interface {
	PerTensor(out, q, k, v device.Buffer[device.Float16], to codes.TensorCodes, s attn.Shape) error
	ByBlock(out, q, k, v device.Buffer[device.Float16], to codes.BlockCodes, s attn.Shape) error
} = (*codes.Int8)(nil)

func main() {
	it := worker.Once(codes.New)
	// The methods take codes, which are outputs as well, behind the inputs.
	codesLast := worker.Order(func(out, in worker.Places) worker.Places { return slices.Concat(out[:1], in, out[1:]) })
	worker.Main(map[string]worker.Op{
		"int8_tensor": worker.Calls(it, "int8.go", (*codes.Int8).PerTensor, codesLast),
		"int8_block":  worker.Calls(it, "int8.go", (*codes.Int8).ByBlock, codesLast),
	})
}
