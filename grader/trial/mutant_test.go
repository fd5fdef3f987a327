package trial

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

func TestMutantsFitTheSolution(t *testing.T) {
	root, task := setup(t)
	files, err := gate.Read(filepath.Join(root, task.Dir, "solution"), task.Package, task.Files)
	for i := range files {
		files[i].Task = task.Dir
	}
	require.NoError(t, err)
	names := Mutants(root, task)
	assert.GreaterOrEqual(t, len(names), 3)
	for _, name := range names {
		m, err := LoadMutant(root, task, name)
		require.NoError(t, err, name)
		solution := files
		if m.Version != "" {
			solution, err = build.Version(root, task, m.Version, files)
			require.NoError(t, err, name)
		}
		edited, err := m.Apply(task, solution)
		require.NoError(t, err, name)
		assert.NotEqual(t, solution, edited)
	}
	_, err = LoadMutant(root, task, "../../x")
	assert.ErrorContains(t, err, "missing_barrier")
	_, err = (&Mutant{Name: "x", Edits: []Edit{{File: "kernels.cu", Find: "float", Replace: ""}}}).Apply(task, files)
	assert.ErrorContains(t, err, "times in the solution's kernels.cu, want once")
}

func TestSubmissionHoldsTheTasksThatAreUsed(t *testing.T) {
	root := t.TempDir()
	used := &rubric.Task{Dir: "task2_x", Files: []string{"a.go"}}
	task := &rubric.Task{Dir: "task3_y", Uses: []registry.Name{"2"}, Used: []*rubric.Task{used}}
	for _, f := range []string{"task2_x/a.go", "task2_x/helper.go", "task3_y/source.go"} {
		path := filepath.Join(root, f)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	dir := t.TempDir()
	files := []gate.File{{Task: "task2_x", Name: "a.go", Data: []byte("package x // old\n")}}
	mutant := &Mutant{Name: "m", Edits: []Edit{{File: "task2_x/a.go", Find: "old", Replace: "new"}}}
	files, err := mutant.Apply(task, files)
	require.NoError(t, err)
	o, extra, err := build.Submission(root, task, files, dir)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"task2_x/helper.go", "task3_y/source.go"}, extra)
	copied, err := os.ReadFile(o[filepath.Join(root, "task2_x", "a.go")])
	require.NoError(t, err)
	assert.Equal(t, "package x // new\n", string(copied))
	_, _, err = build.Submission(root, task, []gate.File{{Task: "task3_y", Name: "a.go"}}, dir)
	assert.ErrorContains(t, err, "not among the files")
}
