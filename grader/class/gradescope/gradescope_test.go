package gradescope

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/course"
	"flashlab/grader/release"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

func unzip(t *testing.T, data []byte) (texts map[string]string, modes map[string]os.FileMode) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	texts, modes = map[string]string{}, map[string]os.FileMode{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		texts[f.Name], modes[f.Name] = string(text), f.Mode()
	}
	return texts, modes
}

func TestTheZip(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("no git repository here: the zip is made of the last commit")
	}
	tree, err := release.Grading(t.Context(), root)
	require.NoError(t, err)
	dir := t.TempDir()
	toml := filepath.Join(dir, "course.toml")
	require.NoError(t, os.WriteFile(toml, []byte("title = \"C\"\n[late]\ndays = 2\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "extensions.csv"), []byte("student,until\n"), 0o644))
	data, err := Zip(Input{Tree: tree, Course: toml, Flags: "-tasks 1,2"})
	require.NoError(t, err)
	texts, modes := unzip(t, data)

	for _, name := range []string{"setup.sh", "run_autograder"} { // in the root of the zip, as Gradescope wants
		assert.Equal(t, os.FileMode(0o755), modes[name], name)
		assert.True(t, strings.HasPrefix(texts[name], "#!/usr/bin/env bash\n"), name)
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(texts[name]), 0o755))
		out, err := exec.Command("bash", "-n", file).CombinedOutput()
		assert.NoError(t, err, string(out))
	}
	assert.Equal(t, "-tasks 1,2\n", texts["flags"])
	assert.Contains(t, texts, "extensions.csv")
	assert.NotContains(t, texts, "roster.csv")
	c, err := course.Parse("course.toml", texts["course.toml"], []registry.Name{"1", "2"})
	require.NoError(t, err)
	assert.NotEmpty(t, c.Seed, "drawn, so that grading again gives the same")
	assert.Equal(t, "C", c.Title)

	assert.NotContains(t, texts["flashlab/task2_unfused/rubric.toml"], "withheld", "hidden cases are in it")
	assert.Contains(t, texts, "flashlab/grader/main.go")
	for name := range texts {
		assert.NotRegexp(t, "^flashlab/(task|bonus).*/solution/|grader/trial/(specimens|_bases)/", name)
		assert.False(t, filepath.IsAbs(name) || strings.Contains(name, ".."), name)
	}

	require.NoError(t, os.WriteFile(toml, []byte("seed = \"ours\"\n"), 0o644))
	one, err := Zip(Input{Tree: tree, Course: toml})
	require.NoError(t, err)
	two, err := Zip(Input{Tree: tree, Course: toml})
	require.NoError(t, err)
	assert.Equal(t, one, two, "with its own seed, the same bytes")
	texts, _ = unzip(t, one)
	assert.Equal(t, "seed = \"ours\"\n", texts["course.toml"])
}

const sample = `{"id": 123456, "created_at": "2026-11-20T14:22:32.365935-07:00", "assignment": {"due_date": "2026-12-31T22:00:00.000000-08:00"},
"users": [{"email": "ada@example.org", "id": 1234, "name": "Ada", "sid": "a1"}, {"email": "b@example.org", "id": 5}],
"previous_submissions": [{"submission_time": "2026-11-19T14:22:33-07:00", "score": 0.0}]}`

func TestWhoseItIs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "submission_metadata.json")
	require.NoError(t, os.WriteFile(name, []byte(sample), 0o644))
	i, err := Item("somewhere", name)
	require.NoError(t, err)
	assert.Equal(t, "a1", i.Student.ID)
	assert.Equal(t, 2, i.Attempt)
	assert.Equal(t, time.Date(2026, 11, 20, 21, 22, 32, 365935000, time.UTC), *i.Submitted)
	require.Len(t, i.Group, 1)
	assert.Equal(t, "b@example.org", i.Group[0].ID)

	i, err = Item("somewhere", "")
	require.NoError(t, err)
	assert.Equal(t, "submission", i.Student.ID)
	require.NoError(t, os.WriteFile(name, []byte("{"), 0o644))
	_, err = Item("somewhere", name)
	assert.ErrorContains(t, err, "submission_metadata.json")
}

func TestTheSmallestContainer(t *testing.T) {
	for _, one := range registry.All[:7] {
		_, too := TooSmall(one.Name, 768)
		assert.False(t, too)
	}
	need, too := TooSmall("7", 768)
	assert.True(t, too)
	_, too = TooSmall("7", need)
	assert.False(t, too)
	_, too = TooSmall("7", 0)
	assert.False(t, too, "a container of unknown size is tried")
	assert.Positive(t, Memory())
}
