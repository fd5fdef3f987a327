package half

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEarlyKernelsWait: every file whose kernels begin early has the same waitForInputs, and calls it.
func TestEarlyKernelsWait(t *testing.T) {
	files, err := fs.Glob(sources, "*.cu")
	require.NoError(t, err)
	body := regexp.MustCompile(`(?ms)^__device__ void waitForInputs\(.*?^}$`)
	late := map[string]bool{"four.cu": true, "kivi.cu": true, "loss.cu": true, "hopper.cu": true} // launched otherwise
	var first string
	for _, file := range files {
		text, err := sources.ReadFile(file)
		require.NoError(t, err)
		one := body.FindString(string(text))
		if late[file] {
			assert.Empty(t, one, file)
			continue
		}
		require.NotEmpty(t, one, file)
		if first == "" {
			first = one
		}
		assert.Equal(t, first, one, file)
		assert.Contains(t, strings.Replace(string(text), one, "", 1), "    waitForInputs();", file)
	}
}

// TestCopiesAreTheSame: what kernels here have from the bonus tasks' is there, too.
func TestCopiesAreTheSame(t *testing.T) {
	for _, c := range []struct {
		file, from string
		names      []string
	}{
		{"hopper.cu", "b4_qkv/solution/hopper.cu", []string{"at", "prepare", "announce", "arrive", "await", "fetch", "begin", "commit", "finish", "gather"}},
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
