package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

func TestRungsOfLaddersAreVersions(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	for _, l := range Ladders() {
		t.Run(l.Name, func(t *testing.T) {
			found, err := FindLadder(l.Name)
			require.NoError(t, err)
			assert.Equal(t, l, found)
			_, c, err := l.Workload.Case(rooms.Ops, true)
			require.NoError(t, err)
			assert.True(t, c.Timed)
			var have []string
			for _, one := range tasks {
				if one.Name == l.Workload.Task {
					have = append(build.Versions(root, one), "")
				}
			}
			require.Greater(t, len(l.Rungs), 1)
			at := -1
			for _, r := range l.Rungs {
				place := -1
				for i, name := range have {
					if name == r.Version {
						place = i
					}
				}
				assert.Greater(t, place, at, "rung %q: the versions, in order, are %q", r.Version, have)
				at = place
				assert.NotEmpty(t, r.Idea)
				assert.NotEmpty(t, r.Bound)
			}
		})
	}
	_, err = FindLadder("flush")
	assert.EqualError(t, err, `there is no ladder "flush"; there is `+LadderNames())
}
