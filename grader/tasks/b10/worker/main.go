// Command worker runs a submission of bonus task b10 for the grader.
package main

import (
	"flashlab/attn"
	backward "flashlab/bonus/b10_backward"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

// The compiler says where a submission's methods are not those of the contract.
var (
	_ interface {
		Float32(to backward.Gradients[float32], from backward.Forward[float32], dOut device.Buffer[float32], s attn.Shape) error
	} = (*backward.Backward)(nil)
	_ interface {
		Float16(to backward.Gradients[device.Float16], from backward.Forward[device.Float16], dOut device.Buffer[device.Float16], s attn.Shape) error
		BFloat16(to backward.Gradients[device.BFloat16], from backward.Forward[device.BFloat16], dOut device.Buffer[device.BFloat16], s attn.Shape) error
	} = (*backward.Halves)(nil)
)

func main() {
	it, halves := worker.Once(backward.New), worker.Once(backward.NewHalves)
	one := worker.Calls(it, "backward.go", (*backward.Backward).Float32)
	worker.Main(map[string]worker.Op{
		"backward_dq": one, "backward_dk": one, "backward_dv": one,
		"backward_twice":    worker.OnDevice(it, twice),
		"backward_float16":  worker.Calls(halves, "halves.go", (*backward.Halves).Float16),
		"backward_bfloat16": worker.Calls(halves, "halves.go", (*backward.Halves).BFloat16),
	})
}

// twice calls Float32 again, with the same inputs and outputs of its own.
func twice(it *backward.Backward, c problem.Problem, out, in worker.Places) error {
	b := worker.Method("backward.go", (*backward.Backward).Float32)
	for len(out) > 0 {
		if err := b.Call(it, c, out[:3], in, attn.PerSequence{}); err != nil {
			return err
		}
		out = out[3:]
	}
	return nil
}
