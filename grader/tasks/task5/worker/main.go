// Command task5 runs a submission of task 5 for the grader. With the arguments
// table -device KIND FILE it compares decoding with and without splitting, for `make plot TASK=5`.
package main

import (
	"fmt"
	"os"

	"flashlab/grader/grading/worker"
	decode "flashlab/task5_decode"
)

func main() {
	if len(os.Args) == 5 && os.Args[1] == "table" {
		if err := table(os.Args[4], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "table:", err)
			os.Exit(1)
		}
		return
	}
	it := worker.Once(decode.New)
	worker.Main(map[string]worker.Op{
		"update":        Update(it),
		"decode":        Decode(it),
		"decode_window": Decode(it),
		"split":         DecodeSplitTiled(it),
		"generate":      Generate(it),
	})
}
