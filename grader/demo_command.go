package main

import (
	"flag"
	"os"

	"flashlab/grader/demo"
)

// demoCommand shows a race and its report.
func demoCommand(args []string) (int, error) {
	if err := parse(flag.NewFlagSet("demo", flag.ContinueOnError), args); err != nil {
		return exitFailed, err
	}
	if err := demo.Race(os.Stdout); err != nil {
		return exitFailed, err
	}
	return exitFull, nil
}
