// Package sizes is what the grader and the worker of task 7 agree upon.
package sizes

import (
	"flashlab/grader/grading/problem"
	"flashlab/nn/gpt2"
)

// GPT2 is the size of a case's random model: the last step takes its last
// position.
func GPT2(c problem.Problem) gpt2.Config {
	s := c.Sizes
	width := s["heads"] * s["dim"]
	return gpt2.Config{Width: width, Heads: s["heads"], Layers: s["layers"], Positions: s["prompt"] + s["steps"],
		Vocabulary: s["vocabulary"], Inner: 4 * width, Epsilon: 1e-5}
}
