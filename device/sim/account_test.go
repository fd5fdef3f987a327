package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// TestAllMemoryIsOnOneAccount: what a kernel keeps in its heap or in a module's variable is moved as an allocation's
// is, and the report has how much of it there was.
func TestAllMemoryIsOnOneAccount(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "account.cu", Text: `
__device__ __align__(32) float kept[2][1024];

__device__ void through(float *scratch, const float *x, float *y) {
    for (int i = threadIdx.x; i < 512; i += blockDim.x) scratch[i] = x[i];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) y[i] = scratch[i];
}
extern "C" __global__ void by_allocation(float *scratch, const float *x, float *y) { through(scratch, x, y); }
extern "C" __global__ void by_variable(float *, const float *x, float *y) { through(kept[1], x, y); }
extern "C" __global__ void by_heap(float *, const float *x, float *y) {
    __shared__ float *scratch;
    if (threadIdx.x == 0) scratch = (float *)malloc(512 * sizeof(float));
    __syncthreads();
    through(scratch, x, y);
    __syncthreads();
    if (threadIdx.x == 0) free(scratch);
}
`})
	require.NoError(t, err)
	b := bench{t, d, m}
	scratch, x, y := alloc[float32](b, "scratch", 512), upload(b, "x", make([]float32, 512)), alloc[float32](b, "y", 512)
	var sectors uint64
	for _, name := range []string{"by_allocation", "by_variable", "by_heap"} {
		b.launch(name, 64, scratch, x, y)
		b.launch(name, 64, scratch, x, y)
		r, err := d.Report()
		require.NoError(t, err)
		for _, c := range r.Launches {
			if c.Kernel != name {
				continue
			}
			if sectors == 0 {
				sectors = c.SectorsRead + c.SectorsWritten
				assert.EqualValues(t, 2*4*64, sectors)
			}
			assert.InDelta(t, sectors, c.SectorsRead+c.SectorsWritten, 4*64, name) // malloc's addresses may begin within a sector
			assert.GreaterOrEqual(t, c.SectorsRead+c.SectorsWritten, sectors, name)
			variables := uint64(0)
			if name == "by_variable" {
				variables = 2 * 2048 // of each launch
			}
			assert.Equal(t, variables, c.VariablesWritten, name)
			heap := uint64(0)
			if name == "by_heap" {
				heap = 2 * 2048
			}
			assert.Equal(t, heap, c.Heap, name)
		}
	}
}
