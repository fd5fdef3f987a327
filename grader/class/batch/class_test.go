package batch

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/course"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/registry"
	"flashlab/grader/tasks/rooms"
	"flashlab/grader/trial/synthetic"
	"flashlab/internal/repo"
)

// everything is set by `make test-all`; without it the class is small, and of task 1.
const everything = "FLASHLAB_ALL"

// TestASyntheticClass grades one of each kind of submission for real, without a sandbox: all that is
// in it is the course's own.
func TestASyntheticClass(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	tasks := all[:1]
	if os.Getenv(everything) != "" {
		tasks = all[:2]
	}
	for i, seconds := range []int{2, 8} { // an endless loop takes a processor for all of its time
		all[i].Limits.Case = seconds
	}
	dir, out := t.TempDir(), t.TempDir()
	students, err := synthetic.Write(dir, root, tasks, 12)
	require.NoError(t, err)
	c, err := course.Load(filepath.Join(dir, "course.toml"), registry.All.Names())
	require.NoError(t, err)
	roster, err := intake.ReadRoster(filepath.Join(dir, "roster.csv"))
	require.NoError(t, err)
	items, err := intake.Find(filepath.Join(dir, "submissions"), roster)
	require.NoError(t, err)
	require.Len(t, items, len(students))
	devices, err := run.Choose(root, "sim")
	require.NoError(t, err)
	tree, err := FingerprintOf(root, all)
	require.NoError(t, err)
	var progress strings.Builder
	o := Options{Root: root, Ops: rooms.Ops, Out: out, Course: c, Tasks: all, Devices: devices, Jobs: 2, Release: "test", Tree: tree,
		Watch: NewProgress(&progress, false, gradebook.Class{Course: c, Rubrics: all}.Measured), Settings: Settings{Version: 1}}
	sum, err := Run(context.Background(), o, items)
	require.NoError(t, err)
	assert.Empty(t, sum.Failed)
	assert.Equal(t, 2, sum.Trouble)
	assert.Contains(t, progress.String(), "12/12")
	wrong, compared, err := synthetic.Check(dir, mustRead(t, out))
	require.NoError(t, err)
	assert.Empty(t, wrong)
	assert.Equal(t, len(students)*len(tasks), compared)
	sum, err = Run(context.Background(), o, items)
	require.NoError(t, err)
	assert.Zero(t, sum.Graded)

	class := gradebook.Class{Course: c, Rubrics: all, Roster: roster, Records: mustRead(t, out)}
	entries := class.Entries()
	assert.Len(t, entries, len(students))
	_, err = class.Write(entries, out, "", "")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(out, "gradebook.csv"))
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	assert.Len(t, rows, len(students)+1)
	results, err := os.ReadFile(filepath.Join(out, "students", "s006", "Results.md"))
	require.NoError(t, err)
	assert.Contains(t, string(results), "| **all** | **")
	feedback, err := os.ReadFile(filepath.Join(out, "students", "s006", "feedback.md"))
	require.NoError(t, err)
	assert.Regexp(t, `task\d_\w+/attention\.go:\d+`, string(feedback), "in the student's own words")
	assert.NotContains(t, string(feedback), out)
}
