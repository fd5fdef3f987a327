package trial

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// TestAWorkerByItself: make gpt2 is a mode of task 7's worker.
func TestAWorkerByItself(t *testing.T) {
	t.Parallel()
	root, err := repo.Root()
	require.NoError(t, err)
	task, err := rubric.Load(root, "task7_gpt2")
	require.NoError(t, err)
	o := run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: run.Solution(root, task), Devices: run.Devices{Kind: device.Sim, Root: root}, Output: filepath.Join(root, "out")}
	assert.NoError(t, run.Standalone(context.Background(), o, "gpt2", []string{"-ref", "-tokens", "2"}))
	assert.ErrorIs(t, run.Standalone(context.Background(), o, "gpt2", []string{"-ref", "-model", "no such folder"}), run.ErrReported)

	// A used task that does not compile is named, with its line.
	o.Subject = edited(root, task, Edit{File: "task5_decode/decode.go", Find: "func New(", Replace: "var _ = undefinedThing\n\nfunc New("})
	err = run.Standalone(context.Background(), o, "gpt2", nil)
	assert.ErrorContains(t, err, "task5_decode/decode.go:")
	assert.ErrorContains(t, err, "undefined: undefinedThing")
}
