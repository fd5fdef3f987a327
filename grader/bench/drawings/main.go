// Command drawings writes the pictures of the handouts: go run ./grader/bench/drawings docs/drawings.
// What they show is computed by the rules that the handouts state, so a picture cannot contradict them.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"flashlab/internal/cache"
)

// drawings are all pictures, by the names of their files.
var drawings = map[string]func() string{
	"banks.svg":   banks,
	"causal.svg":  causal,
	"halving.svg": halving,
	"merging.svg": merging,
	"sectors.svg": sectors,
	"squares.svg": squares,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: drawings FOLDER, such as docs/drawings")
		os.Exit(2)
	}
	for name, draw := range drawings {
		if err := cache.WriteFile(filepath.Join(os.Args[1], name), []byte(draw()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "drawings:", err)
			os.Exit(1)
		}
	}
}
