package trial

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// TestAVariantsTimedRunsAreChecked: the simulator times nothing, but checks the outputs of a timed run as a GPU would.
func TestAVariantsTimedRunsAreChecked(t *testing.T) {
	if os.Getenv(allMutants) == "" {
		t.Skip("make test-all runs a variant's workloads")
	}
	everyVariant(t, func(t *testing.T, root string, plain, task *rubric.Task) {
		for name, s := range map[string]run.Subject{"solution": run.Solution(root, task), "last year's": run.Solution(root, plain)} {
			o := run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: s, Devices: run.Devices{Kind: device.Sim, Root: root}, Output: t.TempDir()}
			r, closed, err := run.Open(t.Context(), o, run.TurnTime)
			require.NoError(t, err)
			t.Cleanup(closed)
			for _, c := range changed(plain, task).Checks {
				rung := c.Ladder[0]
				w := race.Workload{ID: c.ID, Name: c.ID, Task: task.Name, Op: rung.OpOf(c), Shape: rung.Shape, Causal: rung.Causal}
				row, err := race.Measure(t.Context(), r, w, race.Options{Ops: rooms.Ops, Runs: 2, Pieces: 8, Seed: 7})
				require.NoError(t, err)
				require.Empty(t, row.Left)
				assert.Equal(t, name == "solution", row.Right(), "%s of %s, %s: %s", name, task.Dir, c.ID, row.Entries[0].Wrong)
			}
		}
	})
}
