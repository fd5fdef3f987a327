package student

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/repo"
)

// tree has what Results.md is made of: rubrics and handouts.
func tree(t *testing.T) (root string) {
	root = t.TempDir()
	ours, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(ours)
	require.NoError(t, err)
	for _, task := range tasks {
		require.NoError(t, os.MkdirAll(filepath.Join(root, task.Dir), 0o755))
		for _, name := range []string{"rubric.toml", "README.md"} {
			text, err := os.ReadFile(filepath.Join(ours, task.Dir, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(root, task.Dir, name), text, 0o644))
		}
	}
	return root
}

// TestOnlyOnesOwnGradingFillsResults: whatever else is graded has a file of its own.
func TestOnlyOnesOwnGradingFillsResults(t *testing.T) {
	verdicts := []verdict.Verdict{{Task: "2", Checks: []verdict.Check{{Parts: []verdict.Part{{Name: "correctness", Score: 1.25, Max: 3}}}}}}
	for where, g := range map[string]grading{
		"out/reference":        {whose: whose{solution: true}},
		"out/reference/1_keys": {whose: whose{solution: true, version: "1_keys"}},
		"out/mutants/no_max":   {whose: whose{mutant: "no_max"}},
		"out/submissions/s042": {whose: whose{submission: "some/s042"}},
		"out/demo":             {},
		"":                     {},
	} {
		root := tree(t)
		own := filepath.Join(root, report.ResultsName)
		require.NoError(t, os.WriteFile(own, []byte("mine\n"), 0o644))
		if where == "out/demo" {
			g.out = filepath.Join(root, where)
		}
		require.NoError(t, g.write(root, verdicts))
		text, err := os.ReadFile(own)
		require.NoError(t, err)
		if where == "" {
			assert.Contains(t, string(text), "mine\n")
			assert.Contains(t, string(text), "| 1.25 | 3 |")
			assert.FileExists(t, filepath.Join(root, "out", "results.json"))
			continue
		}
		assert.Equal(t, "mine\n", string(text), where)
		text, err = os.ReadFile(filepath.Join(root, where, report.ResultsName))
		require.NoError(t, err, where)
		assert.Contains(t, string(text), "| 1.25 | 3 |", where)
		assert.FileExists(t, filepath.Join(root, where, "results.json"))
	}
	root := tree(t)
	require.NoError(t, grading{only: "softmax"}.write(root, verdicts))
	assert.NoFileExists(t, filepath.Join(root, report.ResultsName), "a part is no result of the task")
}
