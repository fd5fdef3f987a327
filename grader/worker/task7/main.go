// Command task7 runs GPT-2 on a submission of tasks 4, 5 and 6 for the grader.
// With the argument gpt2 it writes text, for `make gpt2`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"flashlab/grader/worker"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "gpt2" {
		if err := write(os.Args[2:]); err != nil {
			if !errors.Is(err, flag.ErrHelp) {
				fmt.Fprintln(os.Stderr, "gpt2:", err)
			}
			os.Exit(1)
		}
		return
	}
	kit := worker.Once(newKit)
	worker.Main(map[string]worker.Op{"gpt2": logits(kit), "gpt2_text": text(kit)})
}
