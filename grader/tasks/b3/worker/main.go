// Command worker runs a submission of bonus task b3 for the grader.
package main

import (
	"slices"

	codes "flashlab/bonus/b3_int8"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(codes.New)
	// The methods take codes, which are outputs as well, behind the inputs.
	codesLast := worker.Order(func(out, in worker.Places) worker.Places { return slices.Concat(out[:1], in, out[1:]) })
	worker.Main(map[string]worker.Op{
		"int8_tensor": worker.Calls(it, "int8.go", (*codes.Int8).PerTensor, codesLast),
		"int8_block":  worker.Calls(it, "int8.go", (*codes.Int8).ByBlock, codesLast),
	})
}
