package build

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/sandbox"
	"flashlab/internal/jail"
)

// sandboxed is what a build in a sandbox needs.
func sandboxed(t *testing.T) (root string, task *rubric.Task, files []gate.File, box *sandbox.Box) {
	if os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("recompiles Go's library; make test-all runs it")
	}
	box, err := sandbox.Probe("auto")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(box.Close)
	root, task = tree(t)
	files, err = gate.Rules{}.ReadAs(filepath.Join(root, task.Dir, "solution"), "", task.Package, task.Files)
	require.NoError(t, err)
	for i := range files {
		files[i].Task = task.Dir
	}
	return root, task, files, box
}

// TestWhatTheSandboxLacksIsNobodysMistake: without Go's own library nothing builds, whatever was
// handed in; outside of the sandbox it would.
func TestWhatTheSandboxLacksIsNobodysMistake(t *testing.T) {
	root, task, files, box := sandboxed(t)
	without := func(ctx context.Context, p jail.Program) (*exec.Cmd, error) {
		p.Read = slices.DeleteFunc(slices.Clone(p.Read), func(path string) bool { return strings.Contains(path, "gocache-") })
		return box.Command(ctx, p)
	}
	_, err := Worker(t.Context(), Request{Root: root, Task: task, Files: files, Dir: t.TempDir(), Jail: without})
	require.Error(t, err)
	var theirs *Error
	assert.NotErrorAs(t, err, &theirs)
	assert.ErrorContains(t, err, "the worker of task 2 does not build")
}

// TestWorkersOfOneSubmissionShareAFolder: where there is a GPU, one worker is built for it and one
// for the simulator, with other flags.
func TestWorkersOfOneSubmissionShareAFolder(t *testing.T) {
	root, task, files, box := sandboxed(t)
	dir := t.TempDir()
	for _, env := range [][]string{nil, {"FLASHLAB_WORKER=another"}} {
		res, err := Worker(t.Context(), Request{Root: root, Task: task, Files: files, Dir: dir, Env: env, Jail: box.Command})
		require.NoError(t, err)
		require.FileExists(t, res.Binary)
		require.NoError(t, os.Remove(res.Binary))
	}
}
