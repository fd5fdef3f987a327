//go:build cuda

package trial

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/sandbox"
	"flashlab/grader/tasks/rooms"
)

// TestExploitsOfAGPUGetTheirVerdicts grades those that make sense on a GPU only: as
// they are, and in the sandbox where there is one. Whatever they leave behind,
// the next submission must be graded as if they had not been.
func TestExploitsOfAGPUGetTheirVerdicts(t *testing.T) {
	root := ready(t)
	on, err := run.Choose(root, "cuda")
	if err != nil {
		t.Skip(err)
	}
	on.NoSim = "the verdict is to be the GPU's" // it would see some of them at once
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	all, err := Load(root, Exploits)
	require.NoError(t, err)

	t.Run("without a sandbox", func(t *testing.T) { exploitGPU(t, root, tasks, all, on) })
	box, err := sandbox.Probe("auto")
	if err != nil {
		t.Logf("not tried in a sandbox: %v", err)
		return
	}
	defer box.Close()
	t.Run("in the sandbox "+box.Name, func(t *testing.T) {
		on.Jail = box.Command
		exploitGPU(t, root, tasks, all, on)
	})
}

func exploitGPU(t *testing.T, root string, tasks []*rubric.Task, all []Submission, on run.Devices) {
	n := 0
	for _, s := range all {
		if !s.GPU {
			continue
		}
		n++
		t.Run(s.Name, func(t *testing.T) { // one at a time: there is one GPU
			task := taskOf(tasks, s)
			v := gradeAdversaryOn(t, root, task, s, on)
			judgeAdversary(t, task, s, v)
			t.Logf("%s: %s (%s)", s.About, came(v), s.Defence)

			one := task.Checks[0]
			next, err := run.Task(t.Context(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: run.Solution(root, task), Seed: 42, Only: one.ID + "/" + one.Cases[len(one.Cases)/2].Name,
				Devices: on, Output: t.TempDir()})
			require.NoError(t, err)
			assert.True(t, next.Full(), "the next submission is graded as ever:\n%s", feedback(next))
		})
	}
	assert.GreaterOrEqual(t, n, 2)
}
