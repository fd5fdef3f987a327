// Command worker runs a submission of bonus task b8 for the grader.
package main

import (
	w4a16 "flashlab/bonus/b8_w4a16"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(w4a16.New)
	worker.Main(map[string]worker.Op{
		"lay":  worker.Calls(it, "w4a16.go", (*w4a16.W4A16).Lay),
		"row":  worker.Calls(it, "w4a16.go", (*w4a16.W4A16).Row),
		"rows": worker.Calls(it, "w4a16.go", (*w4a16.W4A16).Rows),
	})
}
