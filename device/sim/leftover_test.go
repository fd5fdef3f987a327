package sim

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// leftovers are places where a thread could find what one of an earlier block has kept: it would have read nothing.
const leftovers = `
constexpr int COUNT = 8;

// The first block keeps its numbers, the others look for them.
__device__ __noinline__ void keep(volatile float *at, const float *x, float *y, int first) {
    if (first)
        for (int i = 0; i < COUNT; i++) at[i] = x[i];
    else
        for (int i = 0; i < COUNT; i++) y[i] = at[i];
}
extern "C" __global__ void in_an_array(const float *x, float *y, int first) {
    float kept[COUNT];
    keep(kept, x, y, first);
}
extern "C" __global__ void far_down(const float *x, float *y, int first) {
    float kept[8192 + COUNT];
    keep(kept, x, y, first);
}
extern "C" __global__ void below_its_frame(const float *x, float *y, int first) {
    float here;
    volatile float *at = &here;
    keep(at - 1024, x, y, first);
}
extern "C" __global__ void in_shared_memory(const float *x, float *y, int first) {
    __shared__ float kept[COUNT];
    keep(kept, x, y, first);
}
extern "C" __global__ void in_dynamic_shared_memory(const float *x, float *y, int first) {
    extern __shared__ float kept[];
    keep(kept, x, y, first);
}
extern "C" __global__ void in_the_heap(const float *x, float *y, int first) {
    float *kept = (float *)malloc(COUNT * sizeof(float));
    keep(kept, x, y, first);
    free(kept);
}
`

// TestABlockFindsNothingOfTheOneBefore: where a thread keeps numbers, those of a later launch find none of them.
func TestABlockFindsNothingOfTheOneBefore(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler, Workers: 1})
		m, err := d.Compile(device.Source{Name: "leftovers.cu", Text: leftovers})
		require.NoError(t, err)
		b := bench{t, d, m}
		const count = 8
		secret := slices.Repeat([]float32{1234.5}, count)
		x := upload(b, "x", secret)
		for _, name := range []string{"in_an_array", "far_down", "below_its_frame", "in_shared_memory", "in_dynamic_shared_memory", "in_the_heap"} {
			k, err := m.Kernel(name)
			require.NoError(t, err)
			y := upload(b, "y", make([]float32, count))
			for _, first := range []bool{true, false} {
				// Reading what nobody has written is a finding where memory is watched: here the values count.
				_ = d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1), Shared: 4 * count}, x, y, first)
			}
			found, err := y.CopyOut(d)
			require.NoError(t, err)
			assert.NotContains(t, found, secret[0], name)
		}
	})
}
