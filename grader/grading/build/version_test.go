package build

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
)

func TestAVersionReplacesWhatItHas(t *testing.T) {
	root := t.TempDir()
	task := &rubric.Task{Dir: "task9_x", Name: "9"}
	dir := filepath.Join(root, "task9_x", "solution", "_versions", "1_rows")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kernels.cu"), []byte("old"), 0o644))
	solution := []gate.File{
		{Task: "task9_x", Name: "kernels.cu", Data: []byte("new")},
		{Task: "task9_x", Name: "attention.go", Data: []byte("shared")},
		{Task: "task8_y", Name: "kernels.cu", Data: []byte("another task's")},
	}
	files, err := Version(root, task, "1_rows", solution)
	require.NoError(t, err)
	assert.Equal(t, "old", string(files[0].Data))
	assert.Equal(t, solution[1:], files[1:])
	assert.Equal(t, "new", string(solution[0].Data), "the solution itself stays")
	_, err = Version(root, task, "../1_rows", solution)
	assert.ErrorContains(t, err, `["1_rows"]`)
	assert.Equal(t, "version 1, rows", VersionTitle("1_rows"))
}
