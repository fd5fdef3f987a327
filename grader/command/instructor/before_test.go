package instructor

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/class/folder"
	"flashlab/grader/edition"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/release"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// testdata/before is from release 2026.1, of commit ed24c95a: student.zip is a student's tree, less what has no code in
// it, with the solutions of tasks 2 and b7 as the student's work; class.zip has the records that its batch made of six submissions.
const before = "testdata/before"

// A student's work from before is taken over by an update, and still gets full marks.
func TestAnUpdateTakesOverWorkFromBefore(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	z, err := zip.OpenReader(filepath.Join(before, "student.zip"))
	require.NoError(t, err)
	defer z.Close()
	tree := filepath.Join(t.TempDir(), "flashlab")
	require.NoError(t, os.CopyFS(tree, z))
	have, err := edition.Load(os.DirFS(tree))
	require.NoError(t, err)

	made, err := release.Make(t.Context(), root, "", release.Year{})
	require.NoError(t, err)
	newer := fstest.MapFS{}
	for name, data := range made.Contents {
		newer[name] = &fstest.MapFile{Data: data}
	}
	u, err := edition.Update(tree, newer, false)
	require.NoError(t, err)
	assert.Equal(t, "2026.1-ed24c95a23", u.From)
	assert.Empty(t, u.Changed, "none of the course's files was the student's")
	want, err := edition.Load(newer)
	require.NoError(t, err)

	own := 0
	require.NoError(t, fs.WalkDir(os.DirFS(tree), ".", func(name string, d fs.DirEntry, err error) error {
		if name == "out" { // what the update keeps of before
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(tree, name))
		require.NoError(t, err)
		if slices.Contains(have.Yours, name) {
			own++
			old, err := fs.ReadFile(z, name)
			require.NoError(t, err)
			assert.Equal(t, string(old), string(data), "%s is the student's", name)
		} else if name != edition.ManifestName && want.Stubs[name] == "" {
			assert.Equal(t, want.Files[name], edition.Sum(data), "%s: as the newer release has it", name)
		}
		return nil
	}))
	assert.GreaterOrEqual(t, own, len(have.Yours)-1, "all but Results.md, which the first grading writes")

	for _, name := range []string{"task2_unfused", "bonus/b7_kvcache"} {
		task, err := rubric.Load(root, name)
		require.NoError(t, err)
		v, err := run.Task(t.Context(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: run.Submission(root, task, filepath.Join(tree, name)), Seed: 1,
			Devices: run.Devices{Kind: device.Sim, Root: root}, Output: t.TempDir(), Release: "test"})
		require.NoError(t, err)
		assert.Empty(t, v.Refused, name)
		assert.Empty(t, v.Held, "%s: students have nothing that it could be a copy of", name)
		assert.True(t, v.Full(), "%s: work that got full marks then", name)
	}
}

// Records from before make the same grades.
func TestAGradebookReadsRecordsFromBefore(t *testing.T) {
	z, err := zip.OpenReader(filepath.Join(before, "class.zip"))
	require.NoError(t, err)
	defer z.Close()
	class := filepath.Join(t.TempDir(), "class")
	require.NoError(t, os.CopyFS(class, z))
	out := filepath.Join(class, "graded")
	name := filepath.Join(out, "batch.json")
	settings, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, bytes.ReplaceAll(settings, []byte("CLASS"), []byte(class)), 0o644))
	want, err := os.ReadFile(filepath.Join(out, "gradebook.csv"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(out, "gradebook.csv")))

	c := folder.Folder{Out: out}
	o, err := open(&c)
	require.NoError(t, err)
	require.NoError(t, c.Write(o.class))
	got, err := os.ReadFile(filepath.Join(out, "gradebook.csv"))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}
