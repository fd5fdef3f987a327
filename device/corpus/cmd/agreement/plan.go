package main

import (
	"fmt"
	"io"

	"flashlab/device/corpus"
)

// Seconds a run may take. Endless bugs use all of theirs.
const (
	timeLimit    = 20
	endlessLimit = 8
)

// plan lists every bug under every tool, and every twin under the tool that its
// bug belongs to. What never ends runs under that one tool only. The long runs
// come first, so that the short ones fill the gaps.
func plan(w io.Writer, bugs []corpus.Bug) {
	for _, b := range bugs {
		if b.Endless() {
			fmt.Fprintln(w, b.Name, b.Tool(), endlessLimit)
		}
	}
	for _, b := range bugs {
		for _, tool := range tools {
			if !b.Endless() {
				fmt.Fprintln(w, b.Name, tool, timeLimit)
			}
		}
		fmt.Fprintln(w, b.Twin(), b.Tool(), timeLimit)
	}
}
