package trial

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/bench"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/tasks/rooms"
)

// TestTimingMutantsAreCaught: code that is right, or looks it, and cheats the clock. What
// catches it needs no clock: outputs that are poisoned and moved, inputs that are new,
// pieces of every output that are checked, and a queue that is shut between calls.
func TestTimingMutantsAreCaught(t *testing.T) {
	root := ready(t)
	_, tasks := allTasks(t)
	all, err := Load(root, Timing, tasks...)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 10)
	tried := map[string]bool{}
	for _, m := range all {
		if m.GPU { // make test-gpu
			continue
		}
		if os.Getenv(allMutants) == "" && tried[m.Task.Dir] { // one a task
			continue
		}
		tried[m.Task.Dir] = true
		t.Run(m.Task.Dir+"/"+m.Name, func(t *testing.T) {
			t.Parallel()
			specimenOnRecord(t, Timing, m)
			said := timedEntry(t, root, m.Task, m.Subject(root))
			for _, says := range m.Says {
				assert.Contains(t, said, says)
			}
			if m.Fate == NoGain {
				assert.Empty(t, said, "it is right: what it gains, a GPU tells")
			}
		})
	}
}

func TestTheSolutionsPassWhatCatchesThem(t *testing.T) {
	root := ready(t)
	for _, dir := range []string{"task4_flash", "task5_decode", "bonus/b3_int8", "bonus/b4_qkv", "bonus/b5_fourbit", "bonus/b7_kvcache"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			task, err := rubric.Load(root, dir)
			require.NoError(t, err)
			assert.Empty(t, timedEntry(t, root, task, run.Solution(root, task)))
		})
	}
}

// timedEntry runs the task's workloads in the simulator, and tells what was found wrong.
func timedEntry(t *testing.T, root string, task *rubric.Task, s run.Subject) (said string) {
	t.Helper()
	o := run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: s, Devices: run.Devices{Kind: device.Sim, Root: root}, Output: t.TempDir()}
	r, closed, err := run.Open(context.Background(), o, run.TurnTime)
	require.NoError(t, err)
	defer closed()
	done := map[string]bool{}
	table, err := bench.Table(task)
	require.NoError(t, err)
	for _, w := range table {
		if done[w.Op] {
			continue
		}
		done[w.Op] = true
		row, err := race.Measure(context.Background(), r, w, race.Options{Ops: rooms.Ops, Runs: 8, Warm: 2, Pieces: 8, Seed: 7})
		require.NoError(t, err)
		require.Empty(t, row.Left)
		said += row.Entries[0].Wrong + row.Entries[0].Held
	}
	require.NotEmpty(t, done, "%s has no workload", task.Dir)
	return said
}

// TestTheReferenceRacesBesideASubmission: it runs in a separate worker, and is checked.
func TestTheReferenceRacesBesideASubmission(t *testing.T) {
	root := ready(t)
	task, err := rubric.Load(root, "task5_decode")
	require.NoError(t, err)
	open := func(s run.Subject) *supervise.Runner {
		o := run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: s, Devices: run.Devices{Kind: device.Sim, Root: root}, Output: t.TempDir()}
		r, closed, err := run.Open(context.Background(), o, run.TurnTime)
		require.NoError(t, err)
		t.Cleanup(closed)
		return r
	}
	theirs, reference := open(run.Version(root, task, "1_keys")), open(run.Solution(root, task))
	workloads, err := bench.VersionWorkloads(task)
	require.NoError(t, err)
	for _, w := range workloads {
		row, err := race.Measure(context.Background(), theirs, w, race.Options{Ops: rooms.Ops, Name: "submission", Runs: 2, Pieces: 4, Seed: 7},
			&race.Rival{Name: "reference", Runner: reference})
		require.NoError(t, err)
		assert.True(t, row.Right())
		for _, name := range []string{"submission", "reference"} {
			if e := row.Entry(name); assert.NotNil(t, e, name) {
				assert.Positive(t, e.Error, name)
				assert.Equal(t, "needs a GPU", e.Not)
			}
		}
	}
}
