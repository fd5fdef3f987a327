package bench

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/rooms"
)

func TestWorkloadsAreOnes(t *testing.T) {
	_, tasks := everyTask(t)
	ids := map[string]bool{}
	for _, one := range tasks {
		table, err := Table(one)
		require.NoError(t, err)
		versions, err := VersionWorkloads(one)
		require.NoError(t, err)
		for _, w := range table {
			assert.False(t, ids[w.ID], w.ID)
			ids[w.ID] = true
		}
		for _, w := range slices.Concat(table, versions) {
			assert.Equal(t, one.Name, w.Task, w.ID)
			for _, small := range []bool{false, true} {
				_, c, err := w.Case(rooms.Ops, small)
				require.NoError(t, err)
				assert.True(t, c.Timed)
			}
		}
	}
	assert.Greater(t, len(ids), 70)
}

func TestWhatARubricMayNotTime(t *testing.T) {
	one := &rubric.Task{Name: "2"}
	for want, w := range map[string]rubric.Workload{
		`task 2: a workload to time: unknown op "softmix"`: {Op: "softmix"},
		`softmax[3 4]: want 3 sizes`:                       {Op: "softmax", Shape: []int{3, 4}},
		`the op "scores" has no Timed part`:                {Op: "scores"},
	} {
		one.Bench.Table = []rubric.Workload{w}
		_, err := Table(one)
		assert.ErrorContains(t, err, want)
	}
}

// The copy's rate comes from a copy between the two largest tensors of one size: larger than an H200's
// second-level cache, or the rate is the cache's, or a launch's.
func TestSelfTestsCopyMoreThanACacheHolds(t *testing.T) {
	for _, op := range rooms.Ops {
		if op.Timed == nil {
			continue
		}
		w := race.Workload{Name: op.Name, Op: op.Timed.SelfTest.Op, Shape: op.Timed.SelfTest.Shape}
		_, c, err := w.Case(rooms.Ops, false)
		require.NoError(t, err, op.Name)
		copied, seen := 0, map[int]bool{}
		for _, one := range slices.Concat(c.Inputs, c.Outputs) {
			bytes := one.Type.Bytes(one.Elements())
			if seen[bytes] {
				copied = max(copied, bytes)
			}
			seen[bytes] = true
		}
		assert.Greater(t, copied, 60<<20, "%s: %s%v", op.Name, w.Op, w.Shape)
	}
}
