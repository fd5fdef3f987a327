package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMistypedCommandsExitWithTwo(t *testing.T) {
	for _, args := range [][]string{
		{}, {"grad"}, {"grade", "-tsk", "2"}, {"grade", "2"}, {"grade", "-task", "99"}, {"grade", "-task", "2", "-device", "tpu"},
		{"grade", "-solution", "-mutant", "x", "-task", "2"}, {"grade", "-mutant", "missing_barrier"}, {"grade", "-case", "softmax/1x1"},
		{"grade", "-task", "2", "-device", "sim", "-mutant", "nothing"}, {"grade", "-task", "2", "-device", "sim", "-solution", "-case", "softmax/nothing"},
		{"grade", "-task", "2", "-thread", "3,0,0"}, {"grade", "-task", "2", "-device", "sim", "-case", "softmax", "-thread", "x"},
		{"overlay"}, {"doctor", "now"}, {"bench", "-task", "5", "-submission", ".", "-o", "docs"}, {"bench", "-version", "1_keys"}, {"bench", "-task", "5", "-version", "1_keys", "-o", "docs"},
	} {
		assert.Equal(t, exitFailed, execute(args), "%q", args)
	}
	assert.Equal(t, exitFull, execute([]string{"help"}))
	assert.Equal(t, exitFull, execute([]string{"version"}))
	assert.Equal(t, exitFull, execute([]string{"grade", "-help"}))
}

func TestOverlayCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "o.json")
	require.Equal(t, exitFull, execute([]string{"overlay", "-o", file}))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(data), "task2_unfused/solution/kernels.cu")
}

func TestGradeOneCase(t *testing.T) {
	if _, err := probeSimulator(); err != nil {
		t.Skip(err)
	}
	assert.Equal(t, exitFull, execute([]string{"grade", "-task", "2", "-solution", "-device", "sim", "-case", "softmax/17x113", "-seed", "3"}))
	assert.Equal(t, exitLess, execute([]string{"grade", "-task", "2", "-mutant", "one_row_too_few", "-device", "sim", "-case", "softmax/17x113", "-seed", "3"}))
	assert.Equal(t, exitFull, execute([]string{"doctor", "-quiet"}))
}
