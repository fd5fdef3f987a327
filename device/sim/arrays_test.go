package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

const strays = `extern "C" __global__ void shifted(const float *x, float *y, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + by];
}`

// TestAnArraysNeighbourIsNotBlamed: an index beyond an array, or before it, is one of that array, and not
// a race on what lies next to it.
func TestAnArraysNeighbourIsNotBlamed(t *testing.T) {
	for _, c := range []struct {
		by         int
		says, hint string
	}{
		{-1, "read out of bounds: global memory k[-1] (4 bytes), the kernel's x, before its first element", "the index is negative"},
		{-200, "read out of bounds: global memory k[-200] (4 bytes), the kernel's x, before its first element", "the index is negative"},
		{1024, "read out of bounds: global memory k[1024] (4 bytes), the kernel's x, which holds 1024 elements of that size", "how is the index computed"},
		{1024 + 528, "read out of bounds: global memory k[1552] (4 bytes), the kernel's x, which holds 1024 elements of that size", "how is the index computed"},
	} {
		d := start(t, Options{Checks: AllChecks()})
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: strays})
		require.NoError(t, err)
		kernel, err := m.Kernel("shifted")
		require.NoError(t, err)
		_, err = device.Upload(d, "q", make([]float32, 1024))
		require.NoError(t, err)
		k, err := device.Upload(d, "k", make([]float32, 1024))
		require.NoError(t, err)
		out, err := device.Alloc[float32](d, "out", 1024)
		require.NoError(t, err)
		require.Error(t, d.Launch(kernel, device.Launch{Grid: device.D1(16), Block: device.D1(64)}, k, out, c.by))
		r, err := d.Report()
		require.NoError(t, err)
		require.Len(t, r.Findings, 1)
		assert.Equal(t, c.says, r.Findings[0].Message)
		assert.Contains(t, r.Findings[0].Hint, c.hint)
	}
}

// TestAnArrayHasTheKernelsName, where that is another one than the host's.
func TestAnArrayHasTheKernelsName(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: strays})
	require.NoError(t, err)
	kernel, err := m.Kernel("shifted")
	require.NoError(t, err)
	fresh, err := device.Alloc[float32](d, "y", 64)
	require.NoError(t, err)
	x, err := device.Alloc[float32](d, "x", 64)
	require.NoError(t, err)
	require.NoError(t, d.Launch(kernel, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, fresh, x, 0))
	r, err := d.Report()
	require.NoError(t, err)
	require.NotEmpty(t, r.Findings)
	assert.Equal(t, "read of memory that nothing has written: global memory y[0] (4 bytes), the kernel's x", r.Findings[0].Message)
}
