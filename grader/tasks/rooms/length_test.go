package rooms

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// Lines of a kernel file that a reader can take in, and of one that spells out Hopper's own
// instructions, which take many.
const most, mostOfHopper = 300, 400

// hoppers are instructions that no other GPU has: products by four warps together, and copies of whole tiles.
var hoppers = regexp.MustCompile(`\b(wgmma|cp\.async\.bulk)\b`)

// TestSolutionsAreShortEnoughToRead: those of variants, too. Earlier versions stay as they are.
func TestSolutionsAreShortEnoughToRead(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	looked := 0
	for _, task := range tasks {
		for _, dir := range []string{task.Dir, rubric.VariantDir(task.Dir, "*")} {
			files, err := filepath.Glob(filepath.Join(root, dir, "solution", "*.cu*"))
			require.NoError(t, err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				name, err := filepath.Rel(root, file)
				require.NoError(t, err)
				limit := most
				if hoppers.Match(text) {
					limit = mostOfHopper
				}
				assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), limit, "lines of %s: split it by kind of kernel", name)
				looked++
			}
		}
	}
	assert.Greater(t, looked, 15)
}
