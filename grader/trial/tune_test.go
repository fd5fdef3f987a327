package trial

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// TestDecodingIsTuned: in parts, and where NewTiled is written with tiles of several sizes beside them, each of which is right.
func TestDecodingIsTuned(t *testing.T) {
	t.Parallel()
	root := ready(t)
	task, err := rubric.Load(root, "task5_decode")
	require.NoError(t, err)
	tried := func(s run.Subject) map[[2]int]string {
		all, err := run.TuneParts(context.Background(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: s,
			Devices: run.Devices{Kind: device.Sim, Root: root}, Seed: 1, Output: t.TempDir()}, 32, 128)
		require.NoError(t, err)
		found := map[[2]int]string{}
		for _, one := range all {
			found[[2]int{one.Tiles.Keys, one.Parts}] = one.Wrong
		}
		require.Len(t, found, len(all), "each once")
		return found
	}
	both := tried(run.Solution(root, task))
	assert.Len(t, both, 28)
	for choice, wrong := range both {
		assert.Empty(t, wrong, "%d keys, %d parts", choice[0], choice[1])
		assert.GreaterOrEqual(t, choice[0], 16)
	}
	dir := t.TempDir()
	for _, name := range []string{"decode.go", "kernels.cu"} {
		text, err := os.ReadFile(filepath.Join(root, task.Solution(), name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	parts := tried(run.Submission(root, task, dir)) // it lacks tiles.go, as it may
	assert.Len(t, parts, 7)
	for choice, wrong := range parts {
		assert.Empty(t, wrong, "%d parts", choice[1])
		assert.Zero(t, choice[0])
	}
}
