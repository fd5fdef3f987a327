package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// TestLocalMemoryBeyondRegistersCounts: small arrays are free, as registers are; large
// ones are not, nor what recursion keeps on the stack.
func TestLocalMemoryBeyondRegistersCounts(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "k.cu", Text: `
extern "C" __global__ void small(float *x, int n) {
  float a[128];
  for (int i = 0; i < n; i++) a[i] = i;
  x[blockIdx.x * blockDim.x + threadIdx.x] = a[n - 1 - threadIdx.x];
}
extern "C" __global__ void large(float *x, int n) {
  float a[4096];
  for (int i = 0; i < n; i++) a[i] = i;
  x[blockIdx.x * blockDim.x + threadIdx.x] = a[n - 1 - threadIdx.x];
}
__noinline__ __device__ float deep(const float *x, int n) {
  float mine = x[n % 8];
  return n == 0 ? mine : deep(x, n - 1) * mine + 1;
}
extern "C" __global__ void recursive(float *x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] = deep(x + 24, n); }
`})
	require.NoError(t, err)
	x, err := device.Upload(d, "x", make([]float32, 32))
	require.NoError(t, err)
	for _, one := range []struct {
		kernel string
		n      int
	}{{"small", 100}, {"large", 100}, {"recursive", 1000}} {
		k, err := m.Kernel(one.kernel)
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(3), Block: device.D1(8)}, x, one.n))
	}
	r, err := d.Report()
	require.NoError(t, err)
	spilled := map[string]uint64{}
	for _, c := range r.Launches {
		spilled[c.Kernel] = c.Spilled
	}
	const threads, held = 3 * 8, 4 * 255
	assert.Zero(t, spilled["small"])
	assert.InDelta(t, threads*(4*4096-held), float64(spilled["large"]), threads*512, "all of it, whatever was touched")
	assert.Greater(t, spilled["recursive"], uint64(threads*(1000*16-held)))
}

// TestWhatTheStackReallyReachedCounts: below its frames as well, where nothing of the compiler's is.
func TestWhatTheStackReallyReachedCounts(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "below.cu", Text: `
extern "C" __global__ void below(float *x, long long down) {
  char mine = 0;
  volatile char *far = &mine - down;
  *far = 1;
  x[threadIdx.x] = *far + mine;
}`})
	require.NoError(t, err)
	k, err := m.Kernel("below")
	require.NoError(t, err)
	const threads, held = 32, 4 * 255
	for _, c := range []struct{ down, least, most int }{{0, 0, 0}, {190 << 10, threads * (190<<10 - held), threads * (194<<10 - held)}} {
		require.NoError(t, d.Reset())
		x, err := device.Upload(d, "x", make([]float32, threads))
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(threads)}, x, c.down))
		r, err := d.Report()
		require.NoError(t, err)
		assert.Empty(t, r.Findings)
		assert.GreaterOrEqual(t, r.Launches[0].Spilled, uint64(c.least))
		assert.LessOrEqual(t, r.Launches[0].Spilled, uint64(c.most))
	}
}
