//go:build !cuda

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func TestWithoutTheTagOpenSaysWhatToDo(t *testing.T) {
	_, err := Open(Options{})
	require.ErrorIs(t, err, device.ErrNoDevice)
	assert.ErrorContains(t, err, "-tags cuda")
}
