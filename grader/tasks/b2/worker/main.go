// Command worker runs a submission of bonus task b2 for the grader.
package main

import (
	halves "flashlab/bonus/b2_halves"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(halves.New)
	worker.Main(map[string]worker.Op{
		"halves_float16":  attention(it, "Float16", (*halves.Halves).Float16),
		"halves_bfloat16": attention(it, "BFloat16", (*halves.Halves).BFloat16),
	})
}

// attention calls one of the two methods.
func attention[T device.Half](m *worker.Made[*halves.Halves], name string, call halves.Attention[T]) worker.Op {
	return worker.OnDevice(m, func(it *halves.Halves, c problem.Problem, out, in worker.Places) error {
		var b [4]device.Buffer[T]
		for i, place := range []device.Memory{out[0], in[0], in[1], in[2]} {
			var err error
			if b[i], err = device.BufferOf[T](place); err != nil {
				return err
			}
		}
		return worker.StubIn("halves.go", name, call(it, b[0], b[1], b[2], b[3], c.Attention()))
	})
}
