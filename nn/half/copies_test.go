package half

import (
	"io/fs"
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
	late := map[string]bool{"four.cu": true, "kivi.cu": true, "loss.cu": true} // launched otherwise
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
