package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/command"
	"flashlab/grader/demo"
)

func TestMistypedCommandsExitWithTwo(t *testing.T) {
	for _, args := range [][]string{
		{}, {"grad"}, {"help", "grad"}, {"completion", "now"}, {"grade", "-tsk", "2"}, {"grade", "2"}, {"grade", "-task", "99"}, {"grade", "-task", "2", "-device", "tpu"},
		{"grade", "-solution", "-mutant", "x", "-task", "2"}, {"grade", "-mutant", "missing_barrier"}, {"grade", "-case", "softmax/1x1"},
		{"grade", "-task", "2", "-device", "sim", "-mutant", "nothing"}, {"grade", "-task", "2", "-device", "sim", "-solution", "-case", "softmax/nothing"},
		{"grade", "-task", "2", "-thread", "3,0,0"}, {"grade", "-task", "2", "-device", "sim", "-case", "softmax", "-thread", "x"},
		{"grade", "TSAK=2"}, {"grade", "TASK=2", "SEED=x"}, {"doctor", "now"}, {"bench", "-task", "5", "-submission", ".", "-o", "docs"}, {"bench", "-version", "1_keys"}, {"bench", "-task", "5", "-version", "1_keys", "-o", "docs"},
	} {
		assert.Equal(t, command.Failed, execute(args), "%q", args)
	}
	assert.Equal(t, command.Full, execute([]string{"help"}))
	assert.Equal(t, command.Full, execute([]string{"version"}))
	assert.Equal(t, command.Full, execute([]string{"help", "grade"}))
	for _, c := range commands {
		assert.Equal(t, command.Full, execute([]string{c.Name, "-help"}), c.Name)
	}
}

func TestOverlayCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "o.json")
	require.Equal(t, command.Full, execute([]string{"overlay", "-o", file}))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(data), "task2_unfused/solution/kernels.cu")
}

func TestGradeOneCase(t *testing.T) {
	if _, err := demo.Probe(); err != nil {
		t.Skip(err)
	}
	assert.Equal(t, command.Full, execute([]string{"grade", "-task", "2", "-solution", "-device", "sim", "-case", "softmax/17x113", "-seed", "3"}))
	assert.Equal(t, command.Less, execute([]string{"grade", "-task", "2", "-mutant", "one_row_too_few", "-device", "sim", "-case", "softmax/17x113", "-seed", "3"}))
	assert.Equal(t, command.Full, execute([]string{"doctor", "-quiet"}))
}

func TestEveryCommandHasASummaryAndIsCompleted(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "completion"))
	require.NoError(t, err)
	defer func(out *os.File) { os.Stdout = out }(os.Stdout)
	os.Stdout = file
	require.Equal(t, command.Full, execute([]string{"completion"}))
	completion, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	names := map[string]bool{}
	for _, c := range commands {
		if !c.Hidden {
			assert.Contains(t, string(completion), " "+c.Name+") words='")
		}
		assert.NotEmpty(t, c.Summary, c.Name)
		assert.False(t, names[c.Name], "%s is there twice", c.Name)
		names[c.Name] = true
	}
	for _, name := range []string{"grade", "pack", "test", "update", "run", "tune", "bench", "profile", "sanitize", "gpu", "demo", "doctor", "env", "version"} {
		assert.True(t, names[name], name)
	}
}
