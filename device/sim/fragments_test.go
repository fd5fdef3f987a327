package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// TestFragmentsInDeviceMemoryAreChecked, before the product is written there, and counted.
func TestFragmentsInDeviceMemoryAreChecked(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "fragments.cu", Text: `#include <mma.h>
using namespace nvcuda;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;
extern "C" __global__ void product(float *y) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    Sum c;
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(2.0f));
    wmma::fill_fragment(c, 3.0f);
    wmma::mma_sync(((Sum *)y)[threadIdx.x], a, b, c);
}
`})
	require.NoError(t, err)
	b := bench{t, d, m}
	k, err := m.Kernel("product")
	require.NoError(t, err)
	one := device.Launch{Grid: device.D1(1), Block: device.D1(32)}
	y := alloc[float32](b, "y", 32*8)
	require.NoError(t, d.Launch(k, one, y))
	r, err := d.Report()
	require.NoError(t, err)
	assert.Empty(t, r.Findings)
	assert.EqualValues(t, 4*32*8, r.Launches[0].GlobalWritten)
	for _, v := range download(b, y) {
		require.Equal(t, float32(16*2+3), v)
	}
	require.Error(t, d.Launch(k, one, alloc[float32](b, "short", 31*8)))
	r, err = d.Report()
	require.NoError(t, err)
	if assert.NotEmpty(t, r.Findings) {
		assert.Equal(t, "out of bounds", r.Findings[0].Kind)
		assert.Equal(t, 11, r.Findings[0].Line)
	}
}
