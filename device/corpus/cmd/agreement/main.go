// Command agreement sets what the simulator says about each planted bug beside
// what compute-sanitizer said on a GPU (scripts/sanitizer-agreement.sh):
//
//	agreement -plan          lists the runs, one a line: NAME TOOL SECONDS FILE
//	agreement -table DIR     reads the logs DIR/NAME.TOOL.log and prints a table
//	agreement -hopper [DIR]  does so for Hopper's bugs, class by class, tool by tool
package main

import (
	"fmt"
	"os"

	"flashlab/device/corpus"
)

func main() {
	bugs, err := corpus.Bugs()
	switch {
	case err != nil:
	case len(os.Args) == 2 && os.Args[1] == "-plan":
		plan(os.Stdout, bugs)
	case len(os.Args) == 3 && os.Args[1] == "-table":
		err = table(os.Stdout, bugs, os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "-hopper":
		err = hopper(os.Stdout, bugs, "")
	case len(os.Args) == 3 && os.Args[1] == "-hopper":
		err = hopper(os.Stdout, bugs, os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: agreement -plan | -table DIR | -hopper [DIR]")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agreement:", err)
		os.Exit(1)
	}
}

// tools are compute-sanitizer's.
var tools = []string{"memcheck", "racecheck", "initcheck", "synccheck"}
