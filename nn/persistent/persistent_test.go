package persistent

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
)

func TestCopiesInBulk(t *testing.T) {
	for arch, want := range map[string]bool{"sm_80": false, "sm_90": true, "sm_90a": true, "sm_120": true, "": false} {
		assert.Equal(t, want, CopiesInBulk(device.Info{Kind: device.CUDA, Arch: arch}), arch)
	}
	assert.True(t, CopiesInBulk(device.Info{Kind: device.Sim}))
}
