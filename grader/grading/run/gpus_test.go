package run

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
	"flashlab/device/nvcc"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
)

func TestTheGPUInUseIsNamedAndNoOtherSeen(t *testing.T) {
	two := []nvcc.Card{{Index: "0", Name: "H200", UUID: "GPU-aa-1"}, {Index: "1", Name: "H200", UUID: "GPU-bb-2"}}
	o := Options{Task: &rubric.Task{}, Devices: Devices{Kind: device.CUDA, GPU: "H200"}, GPUs: NewGPUs(two)}
	env := []string{"CUDA_VISIBLE_DEVICES=0,1", "LD_LIBRARY_PATH=/x"}
	first, second := pass{runEnv: env}, pass{runEnv: env}
	name, release := o.alone(&first, &supervise.GPU{})
	assert.Contains(t, name, "H200 (aa)")
	assert.Equal(t, []string{"LD_LIBRARY_PATH=/x", "CUDA_VISIBLE_DEVICES=GPU-aa-1"}, first.runEnv)
	name, _ = o.alone(&second, &supervise.GPU{})
	assert.Contains(t, name, "H200 (bb)")
	assert.Equal(t, []string{"LD_LIBRARY_PATH=/x", "CUDA_VISIBLE_DEVICES=GPU-bb-2"}, second.runEnv)
	assert.Empty(t, o.GPUs.free)
	release()
	third := pass{runEnv: env}
	name, _ = o.alone(&third, &supervise.GPU{})
	assert.Contains(t, name, "H200 (aa)", "it is free again")

	o.GPUs = NewGPUs(two[:1])
	alone := pass{runEnv: env}
	name, _ = o.alone(&alone, &supervise.GPU{})
	assert.NotContains(t, name, "(aa)", "of one there is nothing to tell apart")
	assert.Equal(t, env, alone.runEnv)
	assert.Empty(t, o.GPUs.free, "but it serves one at a time")
	none := pass{runEnv: env}
	_, release = o.alone(&none, supervise.None{}) // needs none, so it does not wait
	release()
}
