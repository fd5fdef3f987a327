package build

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// TestVersionsShare: what a version lacks is the next one's that has it, and what lies beside them is all of theirs.
func TestVersionsShare(t *testing.T) {
	root := t.TempDir()
	task := &rubric.Task{Dir: "task9_x", Name: "9"}
	versions := filepath.Join(root, "task9_x", "solution", "_versions")
	for name, text := range map[string]string{
		"tile.cuh": "header", "host.go": "shared host",
		"1_rows/kernels.cu": "#include \"tile.cuh\"\n", "2_tiles/kernels.cu": "2", "2_tiles/attention.go": "host of 1 and 2", "3_wide/kernels.cu": "3\n", "3_wide/attention.go.diff": "// Earlier.\n@@\n-new host\n+old host\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(versions, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644))
	}
	assert.Equal(t, []string{"1_rows", "2_tiles", "3_wide"}, Versions(root, task), "what lies beside them is none")
	solution := []gate.File{{Task: "task9_x", Name: "kernels.cu", Data: []byte("new")}, {Task: "task9_x", Name: "attention.go", Data: []byte("new host\n")}}
	for name, want := range map[string][]string{"1_rows": {"#include \"tile.cuh\"\n", "host of 1 and 2"}, "2_tiles": {"2", "host of 1 and 2"}, "3_wide": {"3\n", "old host\n"}} {
		files, err := Version(root, task, name, solution)
		require.NoError(t, err)
		var got []string
		for _, f := range files {
			got = append(got, string(f.Data))
			assert.Equal(t, f.Name == "tile.cuh" || f.Name == "host.go", f.Ladder, f.Name)
		}
		if want = append(want, "shared host"); name == "1_rows" { // which alone includes it
			want = append(want, "header")
		}
		assert.Equal(t, want, got, name)
	}
}

// TestAVersionMayBeAnothersChanged: a diff may name another task's version, and then has that one's headers.
func TestAVersionMayBeAnothersChanged(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"task8_y/solution/_versions/1_first/kernels.cu":      "#include \"tile.cuh\"\nold\n",
		"task8_y/solution/_versions/tile.cuh":                "its header",
		"task8_y/solution/_versions/host.go":                 "its host",
		"task9_x/solution/_versions/2_other/kernels.cu.diff": "As its first.\n--- task8_y/solution/_versions/1_first/kernels.cu\n@@\n-old\n+new\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	files, err := Version(root, &rubric.Task{Dir: "task9_x", Name: "9"}, "2_other", []gate.File{{Task: "task9_x", Name: "kernels.cu", Data: []byte("solution")}})
	require.NoError(t, err)
	require.Len(t, files, 2)
	assert.Equal(t, "#include \"tile.cuh\"\nnew\n", string(files[0].Data))
	assert.Equal(t, gate.File{Task: "task9_x", Name: "tile.cuh", Path: filepath.FromSlash("task8_y/solution/_versions/tile.cuh"), Data: []byte("its header"), Ladder: true}, files[1])
}

// TestVersionsOfTheCourse: each can be put together, and what lies beside them is of use to one of them.
func TestVersionsOfTheCourse(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	for _, task := range tasks {
		used := map[string]bool{}
		for _, name := range Versions(root, task) {
			files, err := VersionFiles(root, task, name)
			require.NoError(t, err)
			for _, f := range files {
				used[f.Name] = true
			}
		}
		shared, err := Shared(root, task)
		require.NoError(t, err)
		for _, f := range shared {
			assert.True(t, used[f.Name], "no version of task %s includes %s", task.Name, f.Name)
		}
	}
}

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
