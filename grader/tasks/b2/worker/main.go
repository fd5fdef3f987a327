// Command worker runs a submission of bonus task b2 for the grader.
package main

import (
	halves "flashlab/bonus/b2_halves"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(halves.New)
	worker.Main(map[string]worker.Op{
		"halves_float16":  worker.Calls(it, "halves.go", (*halves.Halves).Float16),
		"halves_bfloat16": worker.Calls(it, "halves.go", (*halves.Halves).BFloat16),
	})
}
