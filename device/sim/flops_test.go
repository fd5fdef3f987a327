package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

const arithmetic = `
extern "C" __global__ void axpy(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3.f * x[i] + y[i];
}
extern "C" __global__ void fused(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaf(x[i], 2.f, y[i]);
}
extern "C" __global__ void no_arithmetic(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], y[i]);
}
extern "C" __global__ void by_pointer(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, power;
    if (i < n) y[i] = frexpf(x[i], &power);
}
// Its additions come after a bounds check, in the middle of a basic block.
extern "C" __global__ void tree(const float *x, float *y) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = part[0];
}
`

func TestFLOPsAreCountedExactly(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		x, err := device.Upload(d, "x", make([]float32, 64*64))
		require.NoError(t, err)
		y, err := device.Upload(d, "y", make([]float32, 64*64))
		require.NoError(t, err)
		count := func(text, name string, l device.Launch, args ...any) uint64 {
			m, err := d.Compile(device.Source{Name: "kernels.cu", Text: text})
			require.NoError(t, err)
			k, err := m.Kernel(name)
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, l, args...))
			r, err := d.Report()
			require.NoError(t, err)
			for _, c := range r.Launches {
				if c.Kernel == name {
					return c.FLOPs
				}
			}
			return 0
		}
		line := device.Launch{Grid: device.D1(3), Block: device.D1(64)}
		assert.Equal(t, uint64(2*150), count(arithmetic, "axpy", line, x, y, 150))
		assert.Equal(t, uint64(2*150), count(arithmetic, "fused", line, x, y, 150))
		assert.Equal(t, uint64(0), count(arithmetic, "no_arithmetic", line, x, y, 150))
		assert.Equal(t, uint64(150), count(arithmetic, "by_pointer", line, x, y, 150))
		assert.Equal(t, uint64(3*63), count(arithmetic, "tree", line, x, y))
		assert.Equal(t, uint64(2*64*64*64), count(benchKernels, "sgemm",
			device.Launch{Grid: device.D2(4, 4), Block: device.D2(16, 16)}, x, y, x, 64))
	})
}
