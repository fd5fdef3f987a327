package instructor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/talk"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// TestMutantsOfOtherTasksTalk: each is made among the files of all tasks that the talk uses, and its edit is in the file of the
// task that its name has.
func TestMutantsOfOtherTasksTalk(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	for kernels, uses := range map[string]int{"": 4, "halves": 3} { // tasks 1, 4, 5 and 6; or 6, b2 and b6
		task, err := talker(kernels)
		require.NoError(t, err)
		for _, name := range talk.Mutants[kernels] {
			m, err := within(root, task, name)
			require.NoError(t, err, name)
			files, err := m.Made(root)
			require.NoError(t, err, name)
			number, _, _ := strings.Cut(name, "/")
			own, err := registry.All.Find(number)
			require.NoError(t, err)
			dirs, edited := map[string]bool{}, 0
			for _, f := range files {
				dirs[f.Task] = true
				if f.Task+"/"+f.Name == m.Edits[0].File && strings.Contains(string(f.Data), m.Edits[0].Replace) {
					edited++
					assert.Equal(t, own.Dir, f.Task)
				}
			}
			assert.Equal(t, 1, edited, name)
			assert.Len(t, dirs, uses, name)
		}
	}
	task, err := talker("")
	require.NoError(t, err)
	_, err = within(root, task, "2/no_max_subtraction")
	assert.EqualError(t, err, "MUTANT=2/no_max_subtraction: task 7 uses no task 2; it uses [1 4 5 6]")
	_, err = within(root, task, "4/none")
	assert.ErrorContains(t, err, `task 4 has no mutant "none"; it has barrier_at_end,`)
	_, err = talker("given")
	assert.EqualError(t, err, "KERNELS=given: want own or halves")
}
