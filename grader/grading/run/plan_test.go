package run

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/rubric"
)

func TestCasesForAGPUAreLeftOutWithoutOne(t *testing.T) {
	task := &rubric.Task{Name: "5", Checks: []rubric.Check{{ID: "a", Cases: []rubric.Case{{Name: "small"}, {Name: "large", GPU: true}}}}}
	count := func(kind device.Kind, only string) int {
		p, err := Options{Task: task, Devices: Devices{Kind: kind}, Only: only}.Plan()
		require.NoError(t, err)
		return p.cases()
	}
	assert.Equal(t, 1, count(device.Sim, ""))
	assert.Equal(t, 1, count(device.Sim, "a"))
	assert.Equal(t, 2, count(device.CUDA, ""))
	assert.Equal(t, 2, count(device.CUDA, "a"))
	assert.Equal(t, 1, count(device.CUDA, "a/large"))
	_, err := Options{Task: task, Devices: Devices{Kind: device.Sim}, Only: "a/large"}.Plan()
	assert.ErrorContains(t, err, "a/large needs a GPU")
	assert.Len(t, task.Checks[0].Cases, 2, "the rubric stays as it is")
}
