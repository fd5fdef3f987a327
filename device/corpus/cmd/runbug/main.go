// Command runbug launches one planted bug, or its twin. On GPU 0, for tools that
// watch the process (it has to be built with the tag cuda):
//
//	compute-sanitizer --tool racecheck runbug read_too_early
//	compute-sanitizer --tool racecheck runbug read_too_early_ok
//	runbug -compile          builds every kernel, so that later runs find them
//
// In the simulator, writing what it found as JSON:
//
//	runbug -json read_too_early
//
// It exits with 0 whether or not the kernel was stopped: only what keeps it from
// launching is an error.
package main

import (
	"fmt"
	"os"
	"strings"

	"flashlab/device/corpus"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "-json":
		err = simulate(args[1], os.Stdout)
	case len(args) == 1 && args[0] == "-compile":
		err = compileAll()
	case len(args) == 1 && !strings.HasPrefix(args[0], "-"):
		err = runOnGPU(args[0])
	default:
		fmt.Fprintln(os.Stderr, "usage: runbug [-json] NAME | -compile")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "runbug:", err)
		os.Exit(1)
	}
}

// find looks up a bug by its name or its twin's.
func find(name string) (bug corpus.Bug, twin bool, err error) {
	bug, err = corpus.FindBug(strings.TrimSuffix(name, "_ok"))
	return bug, name == bug.Twin(), err
}
