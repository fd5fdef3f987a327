// Package task3 is all that the grader knows of task 3: tiled attention in Go, with every byte counted.
package task3

import (
	"flashlab/grader/grading/judge"
)

// Ops are what task 3 is asked for.
var Ops = judge.Ops{tiled, chosenTiles}
