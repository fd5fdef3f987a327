package half

import (
	"io/fs"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEarlyKernelsWait: every file whose kernels begin early has them wait.
func TestEarlyKernelsWait(t *testing.T) {
	files, err := fs.Glob(texts, "*.cu")
	require.NoError(t, err)
	late := map[string]bool{"four.cu": true, "kivi.cu": true, "loss.cu": true, "hopper.cu": true} // launched otherwise
	for _, file := range files {
		text, err := texts.ReadFile(file)
		require.NoError(t, err)
		if late[file] {
			assert.NotContains(t, string(text), "early.h", file)
			continue
		}
		assert.Contains(t, string(text), "#include <early.h>", file)
		assert.Contains(t, string(text), "    waitForInputs();", file)
	}
}

// TestCopiesAreTheSame: what kernels here have from the bonus tasks' is there, too.
func TestCopiesAreTheSame(t *testing.T) {
	for _, c := range []struct {
		file, from string
		names      []string
	}{
		{"hopper.cu", "b4_qkv/solution/hopper.cu", []string{"transpose"}},
		{"prompt.cu", "b2_halves/solution/kernels.cu", []string{"power2", "largestOf", "sumOf"}},
		{"decoder/persistent/four.cuh", "b8_w4a16/solution/row.cu", []string{"halvesOf", "bitsOf", "above1024", "low", "high"}},
	} {
		ours, err := os.ReadFile(c.file)
		require.NoError(t, err)
		theirs, err := os.ReadFile("../../bonus/" + c.from)
		require.NoError(t, err)
		for _, name := range c.names {
			body := regexp.MustCompile(`(?ms)^(?:template <[^>]*> )?__device__ \w+ ` + name + `\(.*?^}$`)
			one := body.FindString(string(ours))
			require.NotEmpty(t, one, name)
			assert.Equal(t, body.FindString(string(theirs)), one, name)
		}
	}
}
