package rooms

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
)

// TestHandoutsTellTheThresholdsOfSpeed: where speed is marked beside fewer bits, the handout has both curves' ends as the
// rubric has them, and whoever is shown float32's has an operation that times it.
func TestHandoutsTellTheThresholdsOfSpeed(t *testing.T) {
	const root = "../../.."
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	seen := 0
	for _, task := range tasks {
		for _, c := range task.Checks {
			wide := task.Speed32Of(c)
			if task.Split(c).Speed == 0 || len(c.Ladder) == 0 {
				continue
			}
			op, err := Ops.Find(c.Ladder[0].OpOf(c))
			require.NoError(t, err)
			assert.Equal(t, op.Timed.Wide != "", wide != rubric.Curve{}, "task %s, %s", task.Name, c.ID)
			if op.Timed.Wide == "" {
				continue
			}
			seen++
			text, err := os.ReadFile(filepath.Join(root, task.Dir, "README.md"))
			require.NoError(t, err)
			_, about, found := strings.Cut(string(text), "\n**Speed")
			require.True(t, found, "task %s", task.Name)
			about, _, _ = strings.Cut(about, "\n\n")
			words := strings.FieldsFunc(about, func(r rune) bool { return strings.ContainsRune(" \n,;:", r) })
			for i := range words {
				words[i] = strings.TrimSuffix(words[i], ".")
			}
			marked := task.SpeedOf(c)
			for _, end := range []float64{marked.Full, marked.None, wide.Full, wide.None} {
				assert.Contains(t, words, fmt.Sprintf("%g", end), "task %s, %s: its README.md, where it tells of speed", task.Name, c.ID)
			}
		}
	}
	assert.Equal(t, 11, seen)
}
