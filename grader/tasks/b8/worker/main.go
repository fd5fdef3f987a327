// Command worker runs a submission of bonus task b8 for the grader.
package main

import (
	w4a16 "flashlab/bonus/b8_w4a16"
	"flashlab/grader/grading/worker"
)

// The compiler says where a submission's methods are not those of the contract.
var _ interface {
	Lay(to w4a16.Laid, w w4a16.Weights, s w4a16.Shape) error
	Row(y, x w4a16.Halves, w w4a16.Weights, s w4a16.Shape) error
	Rows(y, x w4a16.Halves, w w4a16.Laid, s w4a16.Shape) error
} = (*w4a16.W4A16)(nil)

func main() {
	it := worker.Once(w4a16.New)
	worker.Main(map[string]worker.Op{
		"lay":  worker.Calls(it, "w4a16.go", (*w4a16.W4A16).Lay),
		"row":  worker.Calls(it, "w4a16.go", (*w4a16.W4A16).Row),
		"rows": worker.Calls(it, "w4a16.go", (*w4a16.W4A16).Rows),
	})
}
