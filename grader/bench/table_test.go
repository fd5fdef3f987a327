package bench

import (
	"flashlab/grader/tasks/rooms"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWorkloadsAreOnes(t *testing.T) {
	ids := map[string]bool{}
	for _, w := range All() {
		assert.False(t, ids[w.ID], w.ID)
		ids[w.ID] = true
		for _, small := range []bool{false, true} {
			_, c, err := w.Case(rooms.Ops, small)
			require.NoError(t, err)
			assert.True(t, c.Timed)
		}
	}
}

func TestVersionsAreComparedOnTheirTasksKernels(t *testing.T) {
	for task := range 8 {
		for _, w := range VersionWorkloads(task) {
			assert.Equal(t, task, w.Task, w.ID)
			for _, small := range []bool{false, true} {
				_, c, err := w.Case(rooms.Ops, small)
				require.NoError(t, err)
				assert.True(t, c.Timed)
			}
		}
	}
}
