package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
	"flashlab/grader/tasks/rooms"
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
	for _, one := range registry.All {
		for _, w := range VersionWorkloads(one.Name) {
			assert.Equal(t, one.Name, w.Task, w.ID)
			for _, small := range []bool{false, true} {
				_, c, err := w.Case(rooms.Ops, small)
				require.NoError(t, err)
				assert.True(t, c.Timed)
			}
		}
	}
}
