package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// An array and a scalar that are read before anything is written to them; before
// that the stack gets numbers that would look right.
const unwrittenLocals = `
extern "C" __global__ void prepare(float *y, int n) {
    volatile float local[64];
    for (int i = 0; i < 64; i++) local[i] = 1.0f;
    y[threadIdx.x] = local[n];
}
extern "C" __global__ void unwritten(float *y, int n) {
    float local[64];
    for (int i = 0; i < n; i++) local[2 * i] = i;
    y[threadIdx.x] = local[2 * n - 1];
}
`

func TestUnwrittenLocalMemoryDoesNotLookRight(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		if !d.compiler.fillsLocals {
			t.Skip("this compiler cannot fill local variables")
		}
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: unwrittenLocals})
		require.NoError(t, err)
		y, err := device.Upload(d, "y", make([]float32, 64))
		require.NoError(t, err)
		for _, name := range []string{"prepare", "unwritten"} {
			k, err := m.Kernel(name)
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, y, 20))
		}
		got, err := y.CopyOut(d)
		require.NoError(t, err)
		for _, v := range got {
			large := math.Abs(float64(v)) > 1e30 || math.IsNaN(float64(v))
			assert.True(t, large, "got %g from memory that nothing has written", v)
		}
	})
}

// Sums that begin with whatever is there, and then are multiplied by exp(-INFINITY): all of them are
// y = x[0] + x[1] + ..., if that is not NaN.
const unwrittenSums = `
#include <cuda_bf16.h>
#define SUMS(type) type sums[DIM]
#define DIM 128
typedef float Row[DIM];
struct State { float most, sums[DIM]; };
template <class T> __device__ void add(T *y, const T *x, int n) {
    T sums[DIM];
    T most = -INFINITY;
    for (int i = 0; i < n; i++) {
        T now = most > x[i] ? most : x[i], before = exp(most - now);
        for (int d = 0; d < DIM; d++) sums[d] = sums[d] * before + x[i] * (d < n);
        most = now;
    }
    y[threadIdx.x] = sums[threadIdx.x];
}
extern "C" __global__ void a_template(float *y, const float *x) { add(y, x, 1); }
extern "C" __global__ void an_array(float *y, const float *x) {
    SUMS(float); int i = 0;
    for (int d = 0; d < DIM; d++) sums[d] = sums[d] * expf(-INFINITY) + x[i];
    y[threadIdx.x] = sums[threadIdx.x];
}
extern "C" __global__ void a_type(float *y, const float *x) {
    Row sums;
    for (int d = 0; d < DIM; d++) sums[d] = sums[d] * expf(-INFINITY) + x[0];
    y[threadIdx.x] = sums[threadIdx.x];
}
extern "C" __global__ void a_structure(float *y, const float *x) {
    State s;
    for (int d = 0; d < DIM; d++) s.sums[d] = s.sums[d] * expf(-INFINITY) + x[0];
    y[threadIdx.x] = s.sums[threadIdx.x];
}
extern "C" __global__ void four(float *y, const float *x) {
    float4 sums;
    sums.x = sums.x * expf(-INFINITY) + x[0];
    y[threadIdx.x] = sums.x;
}
extern "C" __global__ void a_scalar(float *y, const float *x) {
    for (int i = 0; i < 2; i++) {
        float begin = x[0], sum, *none = nullptr;
        if (none == nullptr) sum = sum * expf(-INFINITY) + begin;
        y[threadIdx.x] = sum;
    }
}
extern "C" __global__ void a_lambda(float *y, const float *x) {
    auto sum = [&](int) -> float { double sum; return sum * exp(-INFINITY) + x[0]; };
    y[threadIdx.x] = sum(0);
}
extern "C" __global__ void a_bfloat16(float *y, const float *x) {
    __nv_bfloat16 sum; y[threadIdx.x] = __bfloat162float(sum) * expf(-INFINITY) + x[0];
}
`

// g++ fills with bytes of 0xfe: finite, as floats, so that times 0 they are the 0 that was forgotten.
func TestUnwrittenLocalsTimesZeroAreNotZero(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		if d.compiler.clang && !d.compiler.fillsLocals {
			t.Skip("this compiler cannot fill local variables")
		}
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: unwrittenSums})
		require.NoError(t, err)
		y, err := device.Upload(d, "y", make([]float32, 64))
		require.NoError(t, err)
		x, err := device.Upload(d, "x", []float32{3})
		require.NoError(t, err)
		for _, name := range []string{"a_template", "an_array", "a_type", "a_structure", "four", "a_scalar", "a_lambda", "a_bfloat16"} {
			k, err := m.Kernel(name)
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, y, x))
			got, err := y.CopyOut(d)
			require.NoError(t, err)
			for _, v := range got {
				assert.True(t, math.IsNaN(float64(v)), "%s: got %g from memory that nothing has written", name, v)
			}
		}
	})
}

// TestLocalAddressesThatLeaveTheStack: the way past the hooks is for the thread's own stack and for
// no byte beside it, whatever an address is computed from.
func TestLocalAddressesThatLeaveTheStack(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: `
__device__ __attribute__((noinline)) void add(float *sums, int at) { sums[at] += 1; }
extern "C" __global__ void leaves(float *y, int at) {
    float sums[64] = {0};
    for (int i = 0; i < 64; i++) add(sums, i);
    if (at) add(sums, at);
    y[threadIdx.x] = sums[threadIdx.x];
}
`})
		require.NoError(t, err)
		y, err := device.Upload(d, "y", make([]float32, 64))
		require.NoError(t, err)
		k, err := m.Kernel("leaves")
		require.NoError(t, err)
		launch := device.Launch{Grid: device.D1(1), Block: device.D1(64)}
		require.NoError(t, d.Launch(k, launch, y, 0))
		r, err := d.Report()
		require.NoError(t, err)
		assert.Empty(t, r.Findings)
		require.Len(t, r.Launches, 1)
		assert.Equal(t, uint64(64*4), r.Launches[0].GlobalWritten, "and nothing of the thread's own")
		for _, at := range []int{1 << 20, -1 << 20} {
			require.NoError(t, d.Reset())
			y, err = device.Upload(d, "y", make([]float32, 64))
			require.NoError(t, err)
			_ = d.Launch(k, launch, y, at)
			r, err = d.Report()
			require.NoError(t, err)
			require.NotEmpty(t, r.Findings)
			assert.Equal(t, "out of bounds", r.Findings[0].Kind)
		}
	})
}
