package sim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/fates"
	"flashlab/internal/repo"
)

// record is of the tests that take long, for each compiler.
var record = &fates.Tests{
	Package:  "flashlab/device/sim",
	Programs: candidates,
	Reads: []string{"bonus/b2_halves/solution/*.cu*", "bonus/b3_int8/solution/*.cu*", "bonus/b4_qkv/solution/*.cu*",
		"bonus/b5_fourbit/solution/pipelines/*.cu*", "bonus/b8_w4a16/solution/*.cu*", "device/corpus/bugs/*.cu*"},
}

func TestMain(m *testing.M) { os.Exit(record.Main(m)) }

// TestWhatDecidesATest: a change of it changes the hash under which slow tests are on record.
func TestWhatDecidesATest(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	sum := func(changed string) string {
		sum, err := record.Sum(func(path string) ([]byte, error) {
			text, err := os.ReadFile(path)
			if path == filepath.Join(root, changed) {
				text = append(text, "\nvar changed int\n"...)
			}
			return text, err
		})
		require.NoError(t, err)
		return sum
	}
	before := sum("")
	for _, name := range []string{
		"device/sim/launch.go", "device/sim/moved_test.go", "device/sim/runtime/races.cpp", "device/sim/include/simt/memory.h", "device/sim/testdata/unseen.cu",
		"device/sim/hostside/hostside.go", "device/include/early.h", "device/nvcc/include/tensorcore.h", "device/devicetest/suite.go",
		"device/devicetest/kernels.cu", "device/corpus/bugs/clusters.cu", "bonus/b2_halves/solution/hopper.cu", "internal/cache/cache.go", "go.mod",
	} {
		require.FileExists(t, filepath.Join(root, name))
		assert.NotEqual(t, before, sum(name), name)
	}
	for _, name := range []string{"grader/main.go", "device/sim/README.md", "nn/flash.cu", "device/cuda/launch.go"} {
		require.FileExists(t, filepath.Join(root, name))
		assert.Equal(t, before, sum(name), name)
	}
}
