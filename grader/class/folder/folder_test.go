package folder

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// TestEachClassMeetsHiddenCasesOfItsOwn: those of its seed, every time that the folder is opened.
func TestEachClassMeetsHiddenCasesOfItsOwn(t *testing.T) {
	drawn := func(seed string) (names []string) {
		dir := t.TempDir()
		f := Folder{Out: filepath.Join(dir, "out"), Course: filepath.Join(dir, "course.toml")}
		require.NoError(t, os.WriteFile(f.Course, []byte("seed = \""+seed+"\"\n"), 0o644))
		_, all, settings, err := f.Open()
		require.NoError(t, err)
		class, err := f.Class(all, settings)
		require.NoError(t, err)
		for _, task := range class.Rubrics {
			for _, c := range task.Checks {
				for _, k := range slices.DeleteFunc(slices.Clone(c.Cases), func(k rubric.Case) bool { return !k.Drawn }) {
					names = append(names, string(task.Name)+"/"+c.ID+"/"+k.Name)
				}
			}
		}
		return names
	}
	this, next := drawn("this year's"), drawn("next year's")
	assert.GreaterOrEqual(t, len(this), 10)
	assert.Len(t, next, len(this))
	assert.NotEqual(t, this, next)
	assert.Equal(t, this, drawn("this year's"))
}

// TestAClassIsNotGradedOnOptionalChecks: what has no points is asked of nobody.
func TestAClassIsNotGradedOnOptionalChecks(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	optional := func(all []*rubric.Task) (n int) {
		for _, task := range all {
			for _, c := range task.Checks {
				if c.Optional {
					n++
				}
			}
		}
		return n
	}
	assert.Positive(t, optional(all))
	of, err := Rubrics(root, "")
	require.NoError(t, err)
	assert.Zero(t, optional(of))
	assert.Len(t, of, len(all))
}
