package nn

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCopiesAreTheSame: each .cu file can be read, and compiled, without the others. What several of
// them need is in each, and must stay the same in all.
func TestCopiesAreTheSame(t *testing.T) {
	for name, files := range map[string][]string{
		"waitForInputs": {"linear.cu", "norm.cu", "rope.cu", "../task5_decode/solution/kernels.cu"},
		"finish":        {"gemm.cu", "product.cu", "hopper.cu"},
		"tileOf":        {"product.cu", "hopper.cu"},
		"powerOfTwo":    {"pieces.cu", "../task2_unfused/solution/kernels.cu", "../task4_flash/solution/kernels.cu"},
	} {
		body := regexp.MustCompile(`(?ms)^__device__ \w+ ` + name + `\(.*?^}$`)
		var first string
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			one := body.FindString(string(text))
			require.NotEmpty(t, one, "%s has no %s", file, name)
			if first == "" {
				first = one
			}
			assert.Equal(t, first, one, "%s in %s is not what it is in %s", name, file, files[0])
		}
	}
}
