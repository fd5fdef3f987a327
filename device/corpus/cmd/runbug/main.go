// Command runbug launches one planted bug, or its twin. On GPU 0, for tools that
// watch the process (it has to be built with the tag cuda):
//
//	compute-sanitizer --tool racecheck runbug read_too_early
//	compute-sanitizer --tool racecheck runbug read_too_early_ok   its twin, the kernel without the bug
//	runbug -compile [FILE]   builds every kernel, or a file's, so that later runs find them
//	runbug -result reads_early   runs a bug many times, and says how often its numbers are not its twin's
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
		err = compileAll("")
	case len(args) == 2 && args[0] == "-compile":
		err = compileAll(args[1])
	case len(args) == 2 && args[0] == "-result":
		err = compareResults(args[1])
	case len(args) == 1 && !strings.HasPrefix(args[0], "-"):
		err = runOnGPU(args[0])
	default:
		fmt.Fprintln(os.Stderr, "usage: runbug [-json | -result] NAME | -compile [FILE]")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "runbug:", err)
		os.Exit(1)
	}
}

// find looks up a bug by its name or its twin's.
func find(name string) (bug corpus.Bug, twin bool, err error) {
	all, err := corpus.Bugs()
	if err != nil {
		return corpus.Bug{}, false, err
	}
	for _, b := range all {
		if b.Name == name || b.Twin() == name {
			return b, b.Twin() == name, nil
		}
	}
	return corpus.Bug{}, false, fmt.Errorf("no planted bug, nor a twin, is called %q: agreement -plan lists them", name)
}
