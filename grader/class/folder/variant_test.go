package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
