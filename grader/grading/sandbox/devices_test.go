package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDevicesThatEverybodyMayOpen: those that are no more than files are not among them.
func TestDevicesThatEverybodyMayOpen(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]uint32{"null": 0o666, "fuse": 0o666, "kvm": 0o660} {
		if err := syscall.Mknod(filepath.Join(dir, name), syscall.S_IFCHR|mode, 1<<8|3); err != nil {
			t.Skip("no device can be made here: ", err)
		}
		require.NoError(t, os.Chmod(filepath.Join(dir, name), os.FileMode(mode))) // whatever the mask is
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	assert.Equal(t, []string{filepath.Join(dir, "fuse")}, openToAll(dir))
	assert.Empty(t, openToAll(filepath.Join(dir, "none")))
}
