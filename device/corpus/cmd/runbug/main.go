//go:build cuda

// Command runbug launches one planted bug on GPU 0, or its twin, for tools that
// watch the process:
//
//	compute-sanitizer --tool racecheck runbug read_too_early
//	compute-sanitizer --tool racecheck runbug read_too_early_ok
//	runbug -compile          builds every kernel, so that later runs find them
//
// It exits with 0 whether or not the kernel was stopped: only what keeps it from
// launching is an error.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"flashlab/device"
	"flashlab/device/corpus"
	"flashlab/device/cuda"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: runbug NAME | -compile")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "runbug:", err)
		os.Exit(1)
	}
}

func run(name string) error {
	d, err := cuda.Open(cuda.Options{})
	if err != nil {
		return err
	}
	defer d.Close()
	r := corpus.NewRunner(d)
	if name == "-compile" {
		return r.Compile()
	}
	bug, err := corpus.FindBug(strings.TrimSuffix(name, "_ok"))
	if err != nil {
		return err
	}
	err = r.Run(bug, name == bug.Twin())
	if errors.Is(err, device.ErrFault) {
		fmt.Println("stopped:", err)
		return nil
	}
	return err
}
