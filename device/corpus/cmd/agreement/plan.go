package main

import (
	"fmt"
	"io"

	"flashlab/device/corpus"
)

// Seconds a run may take. Endless bugs use all of theirs.
const (
	timeLimit    = 20
	hopperLimit  = 10
	endlessLimit = 8
)

// limit is how many seconds a run of a bug or its twin may take.
func limit(b corpus.Bug) int {
	if b.Class != "" {
		return hopperLimit
	}
	return timeLimit
}

// watched are the tools that a bug runs under. What never ends runs under the one that
// it belongs to, except for Hopper's: many of those end on a GPU, or not, by chance.
func watched(b corpus.Bug) []string {
	if b.Endless() && b.Class == "" {
		return []string{b.Tool()}
	}
	return tools
}

// plan lists every bug under its tools, every twin under the tool that its bug belongs
// to, and Hopper's bugs once more, alone, to see whether their results are right. The
// long runs come first, so that the short ones fill the gaps.
func plan(w io.Writer, bugs []corpus.Bug) {
	seen := map[string]bool{}
	run := func(name, tool string, seconds int, b corpus.Bug) {
		line := fmt.Sprintln(name, tool, seconds, b.File)
		if !seen[line] {
			fmt.Fprint(w, line)
		}
		seen[line] = true
	}
	for _, endless := range []bool{true, false} {
		for _, b := range bugs {
			if b.Endless() != endless {
				continue
			}
			seconds := limit(b)
			if endless {
				seconds = endlessLimit
			}
			for _, tool := range watched(b) {
				run(b.Name, tool, seconds, b)
			}
			if b.Class != "" && !b.Apart {
				run(b.Name, "result", seconds, b)
			}
		}
	}
	for _, b := range bugs {
		run(b.Twin(), b.Tool(), limit(b), b)
	}
}
