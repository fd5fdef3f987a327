//go:build cuda

package trial

import (
	"fmt"
	"os"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// noise is how much faster than its base a specimen may be measured without having gained anything.
const noise = 1.05

// TestNobodyGainsTimeOnAGPU races what cheats the clock as grading does, and its base: the ratio to the baseline, which
// is what has points, must not be better than the base's, or the trick is found out. Those that need no GPU run with
// FLASHLAB_ALL as well.
func TestNobodyGainsTimeOnAGPU(t *testing.T) {
	root := ready(t)
	on, err := run.Choose(root, "cuda")
	if err != nil {
		t.Skip(err)
	}
	on.NoSim = "nothing is counted"
	_, tasks := allTasks(t)
	all, err := Load(root, Timing, tasks...)
	require.NoError(t, err)
	rows := table.NewWriter()
	rows.AppendHeader(table.Row{"specimen", "task", "base", "specimen's ratio", "gain", "came to"})
	n := 0
	for _, s := range all {
		if !s.GPU && os.Getenv(allMutants) == "" {
			continue
		}
		n++
		t.Run(s.Task.Dir+"/"+s.Name, func(t *testing.T) {
			base := s
			base.Edits, base.Files = nil, nil
			honest, theirs := raced(t, root, base, on), raced(t, root, s, on)
			require.Empty(t, honest.Entries[0].Wrong+honest.Entries[0].Held, "the base is right")
			was, is := honest.Ratio(honest.Entries[1]).Median, theirs.Ratio(theirs.Entries[1]).Median
			found := theirs.Entries[0].Wrong + theirs.Entries[0].Held
			rows.AppendRow(table.Row{s.Name, s.Task.Name, fmt.Sprintf("%.3f", was), fmt.Sprintf("%.3f", is), fmt.Sprintf("%.3f", is/was), found})
			t.Logf("%s: %.3f × its baseline's speed, its base %.3f; %s", s.About, is, was, found)
			if s.Fate == NoGain && found == "" {
				assert.Positive(t, is, "it was timed")
				assert.Less(t, is, noise*was, "it gains time")
				return
			}
			assert.NotEmpty(t, found, "it is found out")
			for _, says := range s.Says {
				assert.Contains(t, found, says)
			}
		})
	}
	t.Log("\n" + rows.Render())
	assert.GreaterOrEqual(t, n, 6)
}

// raced times a specimen on a workload of the check that it names, or of the first that is timed: the first of these that
// takes no more than 4 GB.
func raced(t *testing.T, root string, s Specimen, on run.Devices) race.Row {
	const most = 4 << 30
	var row race.Row
	for _, c := range s.Task.Checks {
		if c.Worker != "" || len(c.Ladder) == 0 || s.Only != "" && s.Only != c.ID {
			continue
		}
		o := run.Options{Root: root, Task: s.Task, Ops: rooms.Ops, Subject: s.Subject(root), Devices: on, Output: t.TempDir()}
		r, closed, err := run.Open(t.Context(), o, run.TurnTime)
		require.NoError(t, err)
		defer closed()
		for i, rung := range c.Ladder {
			w, err := race.Of(s.Task.Name, rooms.Ops, rubric.Workload{Op: rung.OpOf(c), Shape: rung.Shape, Causal: rung.Causal})
			require.NoError(t, err)
			_, wc, err := w.Case(rooms.Ops, false)
			require.NoError(t, err)
			if i < len(c.Ladder)-1 && race.Bytes(wc) > most {
				continue
			}
			row, err = race.Measure(t.Context(), r, w, race.Options{Ops: rooms.Ops, Runs: 11, Warm: 2, Pieces: 8, Seed: 7})
			require.NoError(t, err)
			require.Empty(t, row.Left)
			require.GreaterOrEqual(t, len(row.Entries), 2)
			return row
		}
	}
	require.Fail(t, "no check of "+s.Task.Dir+" is timed")
	return row
}
