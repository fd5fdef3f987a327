package rooms

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// TestEachPlannerIsARubrics: what Python binds of a task's kernels, its rubric names, and nothing else is there.
func TestEachPlannerIsARubrics(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	named := map[string]string{"plans": "what all share"}
	for _, task := range tasks {
		if task.Python != "" {
			assert.Empty(t, named[task.Python], "%s/rubric.toml: python", task.Dir)
			named[task.Python] = task.Dir
		}
	}
	there, err := os.ReadDir(filepath.Join(root, "python", "planner"))
	require.NoError(t, err)
	assert.Len(t, there, len(named))
	for _, folder := range there {
		assert.NotEmpty(t, named[folder.Name()], "python/planner/%s: no rubric says python = %q", folder.Name(), folder.Name())
	}
}
