package build

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

func tree(t *testing.T) (string, *rubric.Task) {
	root, err := repo.Root()
	require.NoError(t, err)
	task, err := rubric.Load(root, "task2_unfused")
	require.NoError(t, err)
	return root, task
}

func TestOverlayOfTheSolutions(t *testing.T) {
	root, task := tree(t)
	o, err := Solutions(root, []*rubric.Task{task})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "o.json")
	require.NoError(t, o.WriteFile(file))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var read struct{ Replace map[string]string }
	require.NoError(t, json.Unmarshal(data, &read))
	for _, f := range task.Files {
		assert.Equal(t, filepath.Join(root, task.Dir, "solution", f), read.Replace[filepath.Join(root, task.Dir, f)])
	}
	own := filepath.Join(root, task.Dir, "solution", "large_test.go")
	assert.Equal(t, own, read.Replace[filepath.Join(root, task.Dir, "large_test.go")], "a solution's own test runs with the task's")
}

func TestSubmissionHidesWhatIsNotGraded(t *testing.T) {
	root := t.TempDir()
	task := &rubric.Task{Dir: "task2_unfused", Files: []string{"a.go"}, Provided: []string{"source.go"}}
	for _, f := range []string{"a.go", "source.go", "helper.go", "asm.s", "a_test.go", "README.md", "solution/a.go"} {
		path := filepath.Join(root, task.Dir, f)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	dir := t.TempDir()
	o, extra, err := Submission(root, task, []gate.File{{Task: task.Dir, Name: "a.go", Data: []byte("package x\n")}}, dir)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"task2_unfused/helper.go", "task2_unfused/asm.s"}, extra)
	in := func(f string) string { return filepath.Join(root, task.Dir, f) }
	assert.Equal(t, Overlay{in("a.go"): filepath.Join(dir, task.Dir, "a.go"), in("helper.go"): "", in("asm.s"): "", in("solution/a.go"): ""}, o)
	_, _, err = Submission(root, task, []gate.File{{Task: task.Dir, Name: "source.go"}}, dir)
	assert.Error(t, err, "not a student's file")
}

func TestCompilerMessagesNameTheStudentsFile(t *testing.T) {
	files := []gate.File{{Task: "task2_x", Name: "attention.go", Path: "mine/attention.go"}}
	for _, shown := range []string{"/r/out/b1/task2_x/attention.go", "./out/b1/task2_x/attention.go", "out/b1/task2_x/attention.go", "task2_x/attention.go", "./task2_x/attention.go"} {
		text, theirs := translate("# flashlab/task2_x\n"+shown+":3:4: undefined: y\n", "/r", "/r/out/b1", files)
		assert.Equal(t, "mine/attention.go:3:4: undefined: y", text, shown)
		assert.True(t, theirs)
	}
	_, theirs := translate("device/device.go:1:1: broken\n", "/r", "/r/out/b1", files)
	assert.False(t, theirs)
}

func TestWhatTheGoCommandCannotReadIsNobodysMistake(t *testing.T) {
	yes, no := func() bool { return true }, func() bool { return false }
	assert.True(t, ours("go: reading overlay: open /tmp/b/overlay.json: permission denied", yes))
	assert.True(t, ours("device/device.go:1:1: broken", no))
	assert.False(t, ours("/usr/bin/ld: out of memory", yes), "only with this submission: it is too large")
}
