package persistent

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func TestSource(t *testing.T) {
	folder := fstest.MapFS{"step.cu": {Data: []byte("kernel")}, "vector.cuh": {Data: []byte("vectors")}, "README.md": {Data: []byte("no")}}
	s, err := Source(folder, "step.cu", map[string]string{"WARPS": "3"})
	require.NoError(t, err)
	assert.Equal(t, "kernel", s.Text)
	assert.Equal(t, "vectors", s.Files["vector.cuh"])
	assert.Contains(t, s.Files["gate.cuh"], "#include <hopper.h>")
	assert.Len(t, s.Files, 4)

	_, err = Source(folder, "other.cu", nil)
	assert.ErrorContains(t, err, "other.cu")
	folder["gate.cuh"] = folder["vector.cuh"]
	_, err = Source(folder, "step.cu", nil)
	assert.ErrorContains(t, err, "there are two files gate.cuh")
}

func TestCopiesInBulk(t *testing.T) {
	for arch, want := range map[string]bool{"sm_80": false, "sm_90": true, "sm_90a": true, "sm_120": true, "": false} {
		assert.Equal(t, want, CopiesInBulk(device.Info{Kind: device.CUDA, Arch: arch}), arch)
	}
	assert.True(t, CopiesInBulk(device.Info{Kind: device.Sim}))
}
