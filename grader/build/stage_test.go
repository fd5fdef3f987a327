package build

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/grader/gate"
	"flashlab/grader/sandbox"
)

// TestWorkersOfOneSubmissionShareAFolder: where there is a GPU, one worker is built for it and one
// for the simulator, with other flags and so from another cache.
func TestWorkersOfOneSubmissionShareAFolder(t *testing.T) {
	if os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("compiles Go's library twice; make test-all runs it")
	}
	box, err := sandbox.Probe("auto")
	if err != nil {
		t.Skip(err)
	}
	defer box.Close()
	root, task := tree(t)
	files, err := gate.ReadAs(filepath.Join(root, task.Dir, "solution"), "", task.Package, task.Files)
	require.NoError(t, err)
	for i := range files {
		files[i].Task = task.Dir
	}
	dir := t.TempDir()
	for _, env := range [][]string{nil, {"FLASHLAB_WORKER=another"}} {
		res, err := Worker(t.Context(), Request{Root: root, Task: task, Files: files, Dir: dir, Env: env, Jail: box.Command})
		require.NoError(t, err)
		require.FileExists(t, res.Binary)
		require.NoError(t, os.Remove(res.Binary))
	}
}
