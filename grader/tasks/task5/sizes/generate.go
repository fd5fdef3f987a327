// Package sizes is what the grader and the worker of task 5 agree upon.
package sizes

import (
	"flashlab/attn"
	"flashlab/grader/grading/problem"
)

// Generate is the shape of the last step of a generation, which fills the cache.
func Generate(c problem.Problem) attn.DecodeShape {
	s := c.Decode()
	s.MaxSeq = c.Sizes["prompt"] + c.Sizes["steps"]
	return s
}

// Replayed is the first step of a generation that comes from a recorded graph.
func Replayed(c problem.Problem) int { return c.Sizes["steps"] / 2 }
