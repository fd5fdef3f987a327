package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/fates"
)

// TestWhatDecidesAFate: a change of it changes the hash, and a change of anything else leaves it.
func TestWhatDecidesAFate(t *testing.T) {
	r, err := opened()
	require.NoError(t, err)
	_, tasks := allTasks(t)
	var s Specimen
	for _, task := range tasks {
		if task.Name == "b4" {
			all, err := Load(r.root, Mutants, task)
			require.NoError(t, err)
			s = all[0]
		}
	}
	files, err := s.Made(r.root)
	require.NoError(t, err)
	hash := func(changed string, files ...string) string {
		tree := r.tree.Reading(func(path string) ([]byte, error) {
			text, err := os.ReadFile(path)
			if name, _ := filepath.Rel(r.root, path); name == changed {
				text = append(text, strings.Join(files, "\n")...)
			}
			return text, err
		})
		made, err := s.Made(r.root)
		require.NoError(t, err)
		sum, err := tree.Sum(r.decides(t, s.Task, made, nil))
		require.NoError(t, err)
		return sum
	}
	before := hash("")
	for _, name := range []string{
		"bonus/b4_qkv/rubric.toml", "grader/tasks/b4/ops.go", "grader/tasks/b4/worker/main.go", "grader/grading/gate/gate.go",
		"grader/grading/judge/mistake.go", "grader/grading/run/run.go", "grader/grading/worker/worker.go", "device/sim/launch.go",
		"device/sim/runtime/races.cpp", "device/nvcc/include/tensorcore.h", "grader/trial/verdicts_test.go", "attn/attn.go", "tensor/tensor.go",
	} {
		require.FileExists(t, filepath.Join(r.root, name))
		assert.NotEqual(t, before, hash(name, "", "var changed int"), name)
	}
	for _, name := range []string{"grader/tasks/b5/ops.go", "bonus/b5_fourbit/rubric.toml", "grader/trial/README.md", "bonus/b4_qkv/solution/kernels.cu"} {
		require.FileExists(t, filepath.Join(r.root, name))
		assert.Equal(t, before, hash(name, "", "var changed int"), name)
	}
	assert.Equal(t, before, hash("device/sim/launch.go", "", "// A remark."))

	kernel := files[len(files)-1]
	kernel.Data = append(kernel.Data, "// Another line."...)
	with := r.decides(t, s.Task, append(files[:len(files)-1], kernel), nil)
	sum, err := r.tree.Sum(with)
	require.NoError(t, err)
	assert.NotEqual(t, before, sum, "the specimen's own text")
	sum, err = r.tree.Sum(r.decides(t, s.Task, files, []string{"another sandbox"}))
	require.NoError(t, err)
	assert.NotEqual(t, before, sum)
}

// TestOneInTenIsDrawn, and each commit draws others.
func TestOneInTenIsDrawn(t *testing.T) {
	drawn, twice := 0, 0
	for i := range 1000 {
		name := "mutants/task2/" + strings.Repeat("x", i)
		if fates.Drawn(name, "one") {
			drawn++
			if fates.Drawn(name, "another") {
				twice++
			}
		}
	}
	assert.InDelta(t, 100, drawn, 40)
	assert.Less(t, twice, drawn/2)
}
