package rubric

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

func TestTheWarmUpHasNoPointsAndIsInNoTotal(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "task0_demo"), 0o755))
	all := registry.List{{Name: "0", Dir: "task0_demo"}}
	write := func(text string) error {
		require.NoError(t, os.WriteFile(filepath.Join(root, "task0_demo", "rubric.toml"), []byte(text), 0o644))
		_, err := load(root, all[0], all, "")
		return err
	}
	assert.ErrorContains(t, write(good), "points: the warm-up has none")
	require.NoError(t, write(strings.ReplaceAll(good, "points = 2.0\n", "")))
	for says, text := range map[string]string{
		"want correctness > 0": strings.Replace(good, "traffic = 0.25\n", "traffic = 0.25\nbanks = 0.25\n", 1),
		"no case says traffic": strings.NewReplacer("points = 2.0\n", "", "traffic = 0.25\n", "banks = 0.25\n", ", traffic = true", "").Replace(good),
	} {
		assert.ErrorContains(t, write(strings.ReplaceAll(text, "points = 2.0\n", "")), says)
	}

	course, err := repo.Root()
	require.NoError(t, err)
	tasks, err := LoadAll(course)
	require.NoError(t, err)
	assert.EqualValues(t, "1", tasks[0].Name)
	tasks, err = WithWarmUp(course, tasks)
	require.NoError(t, err)
	assert.EqualValues(t, "0", tasks[0].Name)
	bare, err := Find(tasks, "")
	require.NoError(t, err)
	assert.EqualValues(t, "1", bare[0].Name, "a bare make grade leaves it out")
	one, err := Find(tasks, "0")
	require.NoError(t, err)
	assert.Len(t, one, 1)
}
