package problem

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
)

func TestWhatAWorkerIsNotTold(t *testing.T) {
	c := Problem{Seed: 7, Inputs: []Tensor{{Name: "x", Stream: 3}, {Name: "k", Given: true, Stream: 4}, {Name: "tokens", Host: true, Stream: 5}}}
	given := func(c Problem) (all []bool) {
		for _, i := range c.Inputs {
			assert.Zero(t, i.Stream)
			all = append(all, i.Given)
		}
		return all
	}
	sim := c.Withhold(device.Sim)
	assert.True(t, sim.Withheld)
	assert.Zero(t, sim.Seed)
	assert.Equal(t, []bool{false, false, true}, given(sim), "on the device, but for what the course's part needs")
	plain := c.Withhold(NoDevice)
	assert.Zero(t, plain.Seed)
	assert.Equal(t, []bool{true, true, true}, given(plain), "plain Go works on nothing else")
	assert.Equal(t, c, c.Withhold(device.CUDA), "which the worker drives itself")
	assert.EqualValues(t, 3, c.Inputs[0].Stream, "the grader's own case is as it was")
	c.Timed = true
	assert.Equal(t, c, c.Withhold(device.Sim))
}
