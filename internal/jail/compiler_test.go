package jail

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACompilerNeedsItsInstallation(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, sub := range []string{"gcc/bin", "gcc/lib/gcc", "me/bin"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, sub), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gcc/bin/g++"), nil, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(dir, "gcc/bin/g++"), filepath.Join(dir, "me/bin/g++")))

	assert.Empty(t, Around("/usr/bin/g++"))
	assert.Equal(t, []string{filepath.Join(dir, "gcc")}, Around(filepath.Join(dir, "gcc/bin/g++")))
	assert.Equal(t, []string{filepath.Join(dir, "me/bin"), filepath.Join(dir, "gcc")}, Around(filepath.Join(dir, "me/bin/g++")),
		"a home is not shown because of a link in it")
}
