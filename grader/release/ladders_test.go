package release

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// TestRubricsOfAReleaseTellNothingOfSolutions, and the rest of them is as it was.
func TestRubricsOfAReleaseTellNothingOfSolutions(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	ladders := 0
	for _, task := range tasks {
		text, err := os.ReadFile(filepath.Join(root, task.Dir, "rubric.toml"))
		require.NoError(t, err)
		var want, have rubric.Task
		require.NoError(t, toml.Unmarshal(text, &want))
		shown := withoutLadders(text)
		require.NoError(t, toml.Unmarshal(shown, &have), string(shown))
		ladders += len(want.Bench.Ladders)
		want.NVCC, want.Bench.Ladders, want.Bench.Versions = nil, nil, nil
		assert.Equal(t, want, have, task.Dir)
		assert.NotContains(t, string(shown), "version", task.Dir)
		assert.NotContains(t, string(shown), "\n\n\n", task.Dir)
		assert.Equal(t, shown, withoutLadders(shown), task.Dir)
	}
	assert.GreaterOrEqual(t, ladders, 11)
}
