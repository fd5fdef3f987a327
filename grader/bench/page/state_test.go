package page

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestState(t *testing.T) {
	assert.Equal(t, State{Driver: "580.1", SM: 1980, Memory: 2619, Temperature: 35}, stateOf("[N/A], 580.1, 1980, 2619, 35, [N/A]\nanother GPU"))
	assert.Equal(t, "0619416a", stateOf("GPU-0619416a-8689-93d0-30cc-496bc5dc4e74, 580.1, 1980, 2619, 35, 110").Card)
	assert.Contains(t, stateOf("oh").Not, `"oh"`)
}

func TestTheStateIsThatOfTheGPUInUse(t *testing.T) {
	bin := t.TempDir()
	const smi = "#!/bin/sh\n" + `[ "$1" = --id=1 ] && echo "GPU-2c3d4e5f-0, 580.1, 1, 2, 3, 4" || echo "GPU-0a1b2c3d-0, 580.1, 5, 6, 7, 8"`
	require.NoError(t, os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(smi), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("CUDA_VISIBLE_DEVICES", "1,0")
	assert.Equal(t, "2c3d4e5f", Look(context.Background()).Card)
	t.Setenv("CUDA_VISIBLE_DEVICES", "0")
	assert.Equal(t, "0a1b2c3d", Look(context.Background()).Card)
}
