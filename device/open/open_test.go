package open

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/cuda"
	"flashlab/device/sim"
)

func TestSimByName(t *testing.T) {
	d, err := Device("sim", Options{})
	if errors.Is(err, sim.ErrNoCompiler) {
		t.Skip(err)
	}
	require.NoError(t, err)
	assert.Equal(t, device.Sim, d.Info().Kind)
	require.NoError(t, d.Close())
}

func TestAuto(t *testing.T) {
	want := device.Sim
	if probe, err := cuda.Open(cuda.Options{}); err == nil {
		require.NoError(t, probe.Close())
		want = device.CUDA
	}
	d, err := Device("auto")
	if errors.Is(err, sim.ErrNoCompiler) {
		t.Skip(err)
	}
	require.NoError(t, err)
	assert.Equal(t, want, d.Info().Kind)
	require.NoError(t, d.Close())
}

func TestCudaIsNeverReplaced(t *testing.T) {
	d, err := Device("cuda", Options{CUDA: cuda.Options{Ordinal: 1000}})
	require.ErrorIs(t, err, device.ErrNoDevice)
	assert.Nil(t, d)
}

func TestUnknownKind(t *testing.T) {
	_, err := Device("gpu")
	assert.ErrorContains(t, err, "auto, sim or cuda")
}
