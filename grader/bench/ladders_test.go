package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

func everyTask(t *testing.T) (root string, tasks []*rubric.Task) {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err = rubric.LoadAll(root)
	require.NoError(t, err)
	return root, tasks
}

func TestRungsOfLaddersAreVersions(t *testing.T) {
	root, tasks := everyTask(t)
	names := strings.Split(LadderNames(tasks), ", ")
	require.GreaterOrEqual(t, len(names), 12)
	for i, name := range names {
		assert.NotContains(t, names[:i], name)
	}
	for _, one := range tasks {
		have := append(build.Versions(root, one), "")
		for _, l := range one.Bench.Ladders {
			found, err := FindLadder(tasks, l.Name)
			require.NoError(t, err)
			assert.Equal(t, l, found.Ladder)
			assert.Equal(t, one.Name, found.Workload.Task)
			_, c, err := found.Workload.Case(rooms.Ops, true)
			require.NoError(t, err)
			assert.True(t, c.Timed)
			at := -1
			for _, r := range l.Rungs {
				place := slices.Index(have, r.Version)
				assert.Greater(t, place, at, "%s: rung %q: the versions, in order, are %q", l.Name, r.Version, have)
				at = place
			}
		}
	}
	_, err := FindLadder(tasks, "flush")
	assert.EqualError(t, err, `there is no ladder "flush"; there is `+LadderNames(tasks))
}

// What a ladder knows to be inexact is timed in the table of versions, too: there as here it is no mistake.
func TestVersionsKnowWhatLaddersKnow(t *testing.T) {
	_, tasks := everyTask(t)
	known := map[string]float64{}
	for _, one := range tasks {
		workloads, err := VersionWorkloads(one)
		require.NoError(t, err)
		for _, l := range one.Bench.Ladders {
			for _, step := range l.Rungs {
				for _, w := range workloads {
					if w.Op == l.Workload.Op && step.Inexact > 0 {
						known[string(one.Name)+" "+step.Version+" "+w.Op] = Inexact(one, step.Version, w.Op)
					}
				}
			}
		}
		assert.Zero(t, Inexact(one, "9_none", "none"))
	}
	assert.Equal(t, map[string]float64{"2 5_halves gemm_nn": 1e-3, "4 5_halves flash": 2e-3}, known)
}

// A task with versions says what they are compared on, and by which steps they came to be.
func TestEveryTaskWithVersionsHasALadder(t *testing.T) {
	root, tasks := everyTask(t)
	for _, one := range tasks {
		if len(build.Versions(root, one)) == 0 {
			continue
		}
		assert.NotEmpty(t, one.Bench.Ladders, "%s/rubric.toml: no [[bench.ladder]]", one.Dir)
		assert.NotEmpty(t, one.Bench.Versions, "%s/rubric.toml: [bench] has no versions", one.Dir)
	}
}
