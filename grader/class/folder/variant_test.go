package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

// TestAClassMeetsTheVariantOfItsCourse: course.toml chooses it, for the batch and for the gradebook.
func TestAClassMeetsTheVariantOfItsCourse(t *testing.T) {
	ops := func(text string) (map[string]string, error) {
		dir := t.TempDir()
		f := Folder{Out: filepath.Join(dir, "out"), Course: filepath.Join(dir, "course.toml")}
		require.NoError(t, os.WriteFile(f.Course, []byte(text), 0o644))
		_, all, settings, err := f.Open()
		if err != nil {
			return nil, err
		}
		class, err := f.Class(all, settings)
		require.NoError(t, err)
		found := map[string]string{}
		for _, task := range class.Rubrics {
			for _, c := range task.Checks {
				found[string(task.Name)+"/"+c.ID] = c.Op
			}
		}
		return found, nil
	}
	plain, err := ops("")
	require.NoError(t, err)
	assert.Equal(t, "flash", plain["4/causal"])
	window, err := ops("variant = \"window\"\n")
	require.NoError(t, err)
	assert.Equal(t, "flash_window", window["4/causal"])
	assert.Equal(t, "decode_window", window["5/decode"])
	for check, op := range plain {
		if check != "4/causal" && check != "5/decode" {
			assert.Equal(t, op, window[check], check)
		}
	}
	_, err = ops("title = \"Autumn\"\nvariant = \"widow\"\n")
	assert.EqualError(t, err, `course.toml:2: variant = "widow": there is no variant "widow"; there is window; leave it out for the plain course`)
}

// TestAYearHasItsOwnPageForAssistants: course.toml names it, and it lies beside course.toml.
func TestAYearHasItsOwnPageForAssistants(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "course.toml")
	year := func(text string) (Released, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return Year(root, file)
	}
	plain, err := year("")
	require.NoError(t, err)
	assert.Nil(t, plain.Agents)
	none, err := year("agents = \"none\"\n")
	require.NoError(t, err)
	assert.Empty(t, *none.Agents)

	_, err = year("agents = \"own.md\"\n")
	assert.ErrorContains(t, err, `agents = "own.md": open `)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own.md"), []byte(" \n"), 0o644))
	_, err = year("agents = \"own.md\"\n")
	assert.ErrorContains(t, err, `the page is empty; agents = "none" leaves it out`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own.md"), []byte("Ours.\n"), 0o644))
	own, err := year("agents = \"own.md\"\nvariant = \"window\"\n")
	require.NoError(t, err)
	assert.Equal(t, "Ours.\n", *own.Agents)
	assert.Equal(t, "window", own.Variant)
}
