package release

import (
	"context"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/edition"
	"flashlab/grader/grading/rubric"
)

// TestAReleaseOfAVariant: students get its handout, stub, tests and checks in place of the task's own, and no
// solution. All else is as in the plain release.
func TestAReleaseOfAVariant(t *testing.T) {
	root, plain := made(t)
	tree, err := Make(context.Background(), root, "9.9", Year{Variant: "window"})
	require.NoError(t, err)
	assert.Regexp(t, `^9\.9\.window-[0-9a-f]{10}$`, tree.Name, "its bytes are others, and so is its name")
	folder, _, err := tree.Write(t.TempDir())
	require.NoError(t, err)
	variant, err := rubric.LoadVariant(root, "window")
	require.NoError(t, err)
	students, err := rubric.LoadAll(folder)
	require.NoError(t, err)
	differ := map[string]bool{"release.json": true, "Results.md": true}
	for i, task := range variant {
		require.Len(t, students[i].Checks, len(task.Checks))
		for j, c := range task.Checks {
			assert.Equal(t, []string{c.ID, c.Op, c.Title}, []string{students[i].Checks[j].ID, students[i].Checks[j].Op, students[i].Checks[j].Title})
			for _, k := range students[i].Checks[j].Cases {
				assert.False(t, k.Hidden || k.Drawn, k.Name)
			}
		}
		if task.Variant == "" {
			continue
		}
		for _, f := range append([]string{"README.md", "rubric.toml", "window_test.go"}, task.Files[0]) {
			name := path.Join(task.Dir, f)
			differ[name] = true
			require.Contains(t, tree.Contents, name)
			assert.NotEqual(t, string(plain.Contents[name]), string(tree.Contents[name]), name)
		}
		assert.Contains(t, string(tree.Contents[path.Join(task.Dir, "README.md")]), "\n## This year: a window")
		assert.NotContains(t, string(tree.Contents[path.Join(task.Dir, "README.md")]), "course.toml", "what it says to instructors")
		assert.Contains(t, string(tree.Contents[path.Join(task.Dir, task.Files[0])]), "s.Window")
	}
	assert.Contains(t, string(tree.Contents["Results.md"]), "| With the causal mask and a window |")
	for _, name := range edition.Sorted(tree.Contents) {
		assert.NotRegexp(t, `(^|/)(solution|_variants)/`, name)
		if !differ[name] {
			assert.Equal(t, string(plain.Contents[name]), string(tree.Contents[name]), name)
		}
	}
	assert.Len(t, tree.Contents, len(plain.Contents)+2, "a public test each")

	// A tree that grades elsewhere grades either, by its course.toml.
	grading, err := Grading(context.Background(), root)
	require.NoError(t, err)
	for _, name := range edition.Sorted(grading.Contents) {
		assert.NotRegexp(t, `^(task|bonus).*/solution/`, name)
	}
	folder, _, err = grading.Write(t.TempDir())
	require.NoError(t, err)
	elsewhere, err := rubric.LoadVariant(folder, "window")
	require.NoError(t, err)
	for i, task := range variant {
		assert.Equal(t, task.Measured(), elsewhere[i].Measured(), task.Dir)
	}

	_, err = Make(context.Background(), root, "9.9", Year{Variant: "widow"})
	assert.ErrorContains(t, err, `there is no variant "widow"; there is window`)
}
