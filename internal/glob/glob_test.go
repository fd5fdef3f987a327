package glob

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheFoldersNameIsNoPattern(t *testing.T) {
	for _, name := range []string{"plain", "GPU [2026]", "all*", "why?", `back\slash`, "[", "a b"} {
		folder := filepath.Join(t.TempDir(), name)
		file := filepath.Join(folder, "parts", "7", "done.json")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		for _, pattern := range []string{"parts/*/done.json", "parts/7/done.json", "parts/[0-9]/*"} {
			found, err := In(folder, pattern)
			require.NoError(t, err)
			assert.Equal(t, []string{file}, found, "%s in %s", pattern, name)
		}
	}
	_, err := In(t.TempDir(), "[")
	assert.ErrorIs(t, err, path.ErrBadPattern)
}
