package nn

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCopiesAreTheSame: each .cu file can be read, and compiled, without the others. What several of
// them need is in each, and must stay the same in all.
func TestCopiesAreTheSame(t *testing.T) {
	const task2, task4 = "../task2_unfused/solution/kernels.cu", "../task4_flash/solution/kernels.cu"
	const function, structure, macro = `(?ms)^__device__ \w+ NAME\(.*?^}$`, `(?ms)^struct NAME \{.*?^};$`, `(?m)^#define NAME\(.*$`
	for _, copied := range []struct {
		name, kind string
		files      []string
	}{
		{"finish", function, []string{"gemm.cu", "product.cu"}},
		{"tileOf", function, []string{"product.cu", "hopper.cu"}},
		// A float32 as two halves:
		{"powerOfTwo", function, []string{"pieces.cu", "flash.cu", task2, task4}},
		{"scaleFor", function, []string{"pieces.cu", "flash.cu", task2, task4}},
		{"cut", function, []string{"pieces.cu", "flash.cu", task2, task4}},
		{"Fragment", structure, []string{"product.cu", task2, task4}},
		{"EACH", macro, []string{"product.cu", task2, task4}},
	} {
		body := regexp.MustCompile(strings.ReplaceAll(copied.kind, "NAME", copied.name))
		var first string
		for _, file := range copied.files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			one := body.FindString(string(text))
			require.NotEmpty(t, one, "%s has no %s", file, copied.name)
			if first == "" {
				first = one
			}
			assert.Equal(t, first, one, "%s in %s is not what it is in %s", copied.name, file, copied.files[0])
		}
	}
}
