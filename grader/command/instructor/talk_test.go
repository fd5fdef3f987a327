package instructor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/talk"
	"flashlab/grader/grading/rubric"
)

// TestMutantsOfOtherTasksTalk: each is made among the files of all tasks that task 7 uses, and its edit is in the file of the
// task that its name has.
func TestMutantsOfOtherTasksTalk(t *testing.T) {
	root, tasks, err := allTasks()
	require.NoError(t, err)
	found, err := rubric.Find(tasks, "7")
	require.NoError(t, err)
	for _, name := range talk.Mutants {
		m, err := within(root, found[0], name)
		require.NoError(t, err, name)
		files, err := m.Made(root)
		require.NoError(t, err, name)
		dirs, edited := map[string]bool{}, 0
		for _, f := range files {
			dirs[f.Task] = true
			if f.Task+"/"+f.Name == m.Edits[0].File && strings.Contains(string(f.Data), m.Edits[0].Replace) {
				edited++
				assert.Equal(t, "task"+name[:1], f.Task[:5])
			}
		}
		assert.Equal(t, 1, edited, name)
		assert.Len(t, dirs, 4, "tasks 1, 4, 5 and 6")
	}
	_, err = within(root, found[0], "2/no_max_subtraction")
	assert.EqualError(t, err, "MUTANT=2/no_max_subtraction: task 7 uses no task 2")
	_, err = within(root, found[0], "4/none")
	assert.ErrorContains(t, err, `task 4 has no mutant "none"; it has barrier_at_end,`)
}
