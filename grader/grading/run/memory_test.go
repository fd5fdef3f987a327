package run

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/verdict"
)

func TestTooMuchMemoryNamesTheTensors(t *testing.T) {
	tensors := func(names ...string) (all []problem.Tensor) {
		for _, n := range names {
			all = append(all, problem.Tensor{Name: n, Shape: []int{8}})
		}
		return all
	}
	product := problem.Problem{Inputs: tensors("x", "w"), Outputs: tensors("y", "x")} // x is fetched again
	v := verdict.Outcome{Passed: true}
	tooMuch(&v, product, 10, 3*32+10)
	assert.True(t, v.Passed)
	tooMuch(&v, product, 10, 3*32+11)
	assert.False(t, v.Passed)
	assert.Equal(t, "the values are right, but 11 bytes of device memory were taken besides x, w and y, and 10 are allowed", v.Reason)

	attention := problem.Problem{Inputs: tensors("q", "k", "v"), Outputs: tensors("out"), Sizes: map[string]int{"seqk": 8}}
	tooMuch(&v, attention, 0, 1000)
	assert.Contains(t, v.Reason, "besides q, k, v and out, and 0 are allowed: no matrix with a number for each pair")
}
