package run

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

// TestWorkersGetTheTimersKernels: all kernels of the worker's own package, which only a timed case compiles.
func TestWorkersGetTheTimersKernels(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := filepath.Glob(filepath.Join(root, "grader/grading/worker/*.cu"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, file := range all {
		name, err := filepath.Rel(root, file)
		require.NoError(t, err)
		assert.Contains(t, timers, filepath.ToSlash(name))
	}
}
