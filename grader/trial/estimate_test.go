package trial

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/rooms"
)

// Without a GPU, a check that is right says how long its workload would take on one. A version that is slow on a GPU takes
// longer by its estimate, too, and no points depend on it.
func TestSpeedIsEstimatedWithoutAGPU(t *testing.T) {
	root := ready(t)
	task, err := rubric.Load(root, "task5_decode")
	require.NoError(t, err)
	gpu, err := run.Estimating("")
	require.NoError(t, err)
	part := func(s run.Subject, only string) verdict.Part {
		v, err := run.Task(t.Context(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: s,
			Devices: run.Devices{Root: root, Kind: device.Sim, Asked: device.Sim},
			Seed:    1, Only: only, Estimate: gpu, Output: t.TempDir()})
		require.NoError(t, err)
		require.Len(t, v.Checks, 1)
		p := v.Checks[0].Part("speed")
		require.NotNil(t, p)
		assert.True(t, p.NeedsGPU)
		assert.Zero(t, p.Score)
		return *p
	}
	fast, slow := part(run.Solution(root, task), "decode"), part(run.Version(root, task, "1_keys"), "decode")
	require.NotNil(t, fast.Estimate)
	require.NotNil(t, slow.Estimate)
	assert.Regexp(t, `^about .* on an H200(, | \(±).*bound by .*; \d+ % of that at kernels.cu:\d+`, fast.Estimate.Text)
	assert.InDelta(t, 970e-6, fast.Estimate.Seconds, 300e-6, "what this workload's bytes take an H200")
	assert.Greater(t, slow.Estimate.Seconds, 1.5*fast.Estimate.Seconds)
	assert.Equal(t, fast.Estimate.Workload, slow.Estimate.Workload)
	assert.Nil(t, part(run.Solution(root, task), "decode/1x1x1x1x1").Estimate, "one case alone is not timed")

	_, err = run.Estimating("T4")
	assert.ErrorContains(t, err, "ESTIMATE=T4: no GPU of the name")
	none, err := run.Estimating("no")
	assert.NoError(t, err)
	assert.Nil(t, none)
}
