package page

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench"
	"flashlab/grader/grading/timing"
	"flashlab/internal/repo"
)

func TestMistakesAreFilledIn(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", measuringPage))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, measuringPage), page, 0o644))
	none := Mistakes{Results: []bench.Mistake{{Slip: "nosync", Not: "needs a GPU"}}}
	require.NoError(t, none.Write(dir))
	text, err := os.ReadFile(filepath.Join(dir, measuringPage))
	require.NoError(t, err)
	assert.Contains(t, string(text), markBegin+"\nNot measured yet")

	some := Mistakes{Device: "A made-up GPU", Seed: 7, Results: []bench.Mistake{
		{Slip: bench.OneRun, Workload: "w", Right: timing.Describe([]float64{4e4}), Wrong: timing.Describe([]float64{4e3}), RightUp: 0.5, WrongUp: 7.8, Note: "a | b"},
		{Slip: "nosync", Workload: "w", Right: timing.Describe([]float64{4e4}), Wrong: timing.Describe([]float64{4e3}), RightUp: 0.5, WrongUp: 7.8},
		{Slip: bench.Precision, Workload: "w", Not: "there is no PyTorch here"},
	}}
	for range 2 { // again gives the same
		require.NoError(t, some.Write(dir))
		text, err = os.ReadFile(filepath.Join(dir, measuringPage))
		require.NoError(t, err)
		assert.NotContains(t, string(text), "Not measured yet")
		assert.Contains(t, string(text), "| no synchronisation | w | 40.0 µs (40.0 µs to 40.0 µs) | 4.0 µs (4.0 µs to 4.0 µs) | 0.50 | 7.80 |  |\n| one run | w |")
		assert.Contains(t, string(text), "not measured: there is no PyTorch here")
	}
	assert.Error(t, some.Write(t.TempDir()), "there is no page")
	_, err = some.fill("no markers")
	assert.ErrorContains(t, err, "markers")
}
