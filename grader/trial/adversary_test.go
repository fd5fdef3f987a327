package trial

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// TestEveryOneFits: edits quote lines of the solutions, which change.
func TestEveryOneFits(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	for kind, least := range map[string]int{Exploits: 40, Honest: 30} {
		all, err := Load(root, kind)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(all), least, kind)
		for _, s := range all {
			assert.NoError(t, s.Write(root, taskOf(tasks, s), t.TempDir()))
			assert.Equal(t, kind == Honest, s.Verdict == Full, s.Name)
		}
	}
}

// taskOf is the task that a specimen is of.
func taskOf(tasks []*rubric.Task, s Submission) *rubric.Task {
	found, err := rubric.Find(tasks, string(s.Task))
	if err != nil {
		panic(err)
	}
	return found[0]
}
