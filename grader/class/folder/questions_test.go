package folder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

func TestEveryQuestionHasAnAnswer(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	byTask, err := questionsOf(root, all) // refuses a key with more or fewer answers than questions
	require.NoError(t, err)
	for _, task := range all {
		questions, err := keysOf(root + "/" + task.Dir + "/" + answerKey)
		require.NoError(t, err)
		assert.Len(t, questions, len(byTask[task.Name]), task.Dir)
		for _, q := range byTask[task.Name] {
			assert.NotEmpty(t, q.Text, task.Dir)
			assert.NotEmpty(t, q.Key, "%s: question %d", task.Dir, q.Number)
		}
	}
}
