package run

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/grading/rubric"
)

func TestOneThreadsPrintfNeedsTheSimulator(t *testing.T) {
	gpu := Devices{Kind: device.CUDA, GPU: "H100"}
	d, err := gpu.Only("3", "")
	require.NoError(t, err)
	assert.Equal(t, device.Sim, d.Kind, "where nobody asked for the GPU, the simulator takes its place")
	assert.Equal(t, "thread (3,0,0)", inWords(d.Show))
	d, err = gpu.Only("", "")
	require.NoError(t, err)
	assert.Equal(t, device.CUDA, d.Kind)

	asked := gpu
	asked.Asked = device.CUDA
	_, err = asked.Only("3,0,0", "")
	assert.ErrorContains(t, err, "a GPU prints for all threads; use DEVICE=sim")
	without := gpu
	without.NoSim = "no compiler"
	_, err = without.Only("", "1,0,0")
	assert.ErrorContains(t, err, "no compiler")
	for _, wrong := range []string{"x", "1,2,3,4", "-1", "1,,2"} {
		_, err = gpu.Only(wrong, "")
		assert.ErrorContains(t, err, "like 3,0,0", wrong)
	}
}

func TestAgainNamesTheThread(t *testing.T) {
	thread := [3]int{3, 0, 0}
	o := Options{Task: &rubric.Task{Name: "2"}, Seed: 7}
	assert.Equal(t, "make grade TASK=2 CASE=softmax/1x1 SEED=7 THREAD=3,0,0 BLOCK=3,0,0",
		o.againAt("softmax/1x1", trace.Show{Thread: &thread, Block: &thread}))
	assert.Equal(t, "make grade TASK=2 CASE=softmax/1x1 SEED=7", o.Again("softmax/1x1"))
}
