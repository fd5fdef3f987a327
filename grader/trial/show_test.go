package trial

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/hbm"
)

// What `make show` is told of a kernel with a race: lines with their steps, and both sides.
func TestShowTellsOfLinesAndOfBothSidesOfARace(t *testing.T) {
	root, task := setup(t)
	mutant, err := Find(root, Mutants, task, "missing_barrier")
	require.NoError(t, err)
	shown, err := run.Show(context.Background(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: mutant.Subject(root), Devices: run.Devices{Root: root, Asked: device.Sim},
		Seed: 1, Only: "softmax/17x113", Output: t.TempDir()})
	require.NoError(t, err)
	assert.Equal(t, "softmax/17x113", shown.Name)
	require.Len(t, shown.Seen.Counts, 1)
	c := shown.Seen.Counts[0]
	assert.Equal(t, uint64(17), c.Blocks)
	var steps, barriers uint64
	for _, l := range c.LineSteps {
		assert.Equal(t, "kernels.cu", l.File)
		steps, barriers = steps+l.Steps, barriers+l.Barriers
	}
	assert.Equal(t, c.Barriers, barriers)
	assert.InEpsilon(t, c.Steps, steps, 0.05, "the lines' steps are nearly all there are")
	require.Len(t, shown.Seen.Findings, 1)
	f := shown.Seen.Findings[0]
	require.Len(t, f.Sides, 2)
	assert.Equal(t, f.Line, f.Sides[1].Line)
	assert.NotEqual(t, f.Line, f.Sides[0].Line)
	assert.Equal(t, []string{"write", "read"}, []string{f.Sides[0].Op, f.Sides[1].Op})
	assert.NotEqual(t, f.Sides[0].Thread, f.Sides[1].Thread)
	assert.Equal(t, *f.Thread, f.Sides[1].Thread)
	assert.Equal(t, trace.Side{}.Block, f.Sides[0].Block)
	require.NotNil(t, c.Samples, "what pictures are drawn from")
	assert.NotEmpty(t, c.Samples.Banks)
	require.Len(t, c.Samples.Arrays, 2)
	assert.Equal(t, "x", c.Samples.Arrays[0].Name)
	require.NotNil(t, c.Samples.Timeline)
	assert.Equal(t, 8, c.Samples.Timeline.Block, "the one in the middle")
	assert.Equal(t, "kernels.cu", shown.Sources[0].Name)
	assert.Contains(t, shown.Sources[0].Text, "__global__")
}

// What it is told of task 3, which has no kernels: all that the algorithm asked of its machine.
func TestShowTellsOfTiles(t *testing.T) {
	root := ready(t)
	task, err := rubric.Load(root, "task3_tiled_go")
	require.NoError(t, err)
	for name, passed := range map[string]bool{"": true, "last_tile_dropped": false} {
		subject := run.Solution(root, task)
		if name != "" {
			mutant, err := Find(root, Mutants, task, name)
			require.NoError(t, err)
			subject = mutant.Subject(root)
		}
		shown, err := run.Show(context.Background(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: subject, Devices: run.Devices{Root: root}, Seed: 1, Only: "causal/113x113", Output: t.TempDir()})
		require.NoError(t, err)
		assert.Equal(t, passed, shown.Case.Passed, shown.Case.Reason)
		assert.Equal(t, []uint64{11, 13}, []uint64{shown.Counts["br"], shown.Counts["bc"]})
		calls, err := hbm.Calls(shown.Record)
		require.NoError(t, err)
		assert.Greater(t, len(calls), 100)
		assert.Positive(t, shown.Case.Moved)
	}
	stub := run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: run.Submission(root, task, ""), Devices: run.Devices{Root: root}, Seed: 1, Only: "causal/113x113", Output: t.TempDir()}
	_, err = run.Show(context.Background(), stub)
	assert.ErrorContains(t, err, "no tile was made, so there is nothing to show: ")
	assert.ErrorContains(t, err, "still the stub")
}
