package edition

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsNoLongerAsTheReleaseHasIt(t *testing.T) {
	root := t.TempDir()
	assert.Empty(t, Strayed(root, "a"), "no release")
	m := Manifest{Name: "1-x", Files: map[string]string{}}
	for _, name := range []string{"a/mask.go", "a/mask.cu", "a/README.md", "a/mask_test.go", "a/gone.go", "b/other.go"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("text"), 0o644))
		m.Files[name] = Sum([]byte("text"))
	}
	data, err := json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, ManifestName), data, 0o644))
	assert.Empty(t, Strayed(root, "a", "b"))
	require.NoError(t, os.Remove(filepath.Join(root, "a/gone.go"))) // the build says that
	for _, name := range []string{"a/mask.cu", "a/README.md", "a/mask_test.go", "b/other.go"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("mine"), 0o644))
	}
	says := Strayed(root, "a")
	require.Len(t, says, 1)
	assert.Contains(t, says[0], "a/mask.cu is changed, but it is the course's")
	assert.Len(t, Strayed(root, "a", "b"), 2)
}
