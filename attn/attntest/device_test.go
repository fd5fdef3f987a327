package attntest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
)

// TestDeviceFinds: a student's tests show races as well as wrong results.
func TestDeviceFinds(t *testing.T) {
	d, ok := Device(t).(*sim.Device)
	if !ok {
		t.Skip("a GPU reports no findings")
	}
	m, err := d.Compile(device.Source{Name: "racy.cu", Text: `
extern "C" __global__ void racy(float *x) {
    __shared__ float first;
    if (threadIdx.x == 0) first = x[0];
    x[threadIdx.x] = first;
}`})
	require.NoError(t, err)
	k, err := m.Kernel("racy")
	require.NoError(t, err)
	x := Input(t, d, "x", make([]float32, 64))
	require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, x))
	r, err := d.Report()
	require.NoError(t, err)
	require.NotEmpty(t, r.Findings)
	assert.Contains(t, r.Findings[0].Kind, "race")
}
