package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

const randomKernels = `
#include <curand_kernel.h>
// The first number of each sequence; a number reached by steps, and by a jump; two normal ones.
extern "C" __global__ void numbers(float *y, unsigned *bits, double *mean) {
    int t = threadIdx.x;
    curandState s, far;
    curand_init(1234, t, 0, &s);
    curand_init(1234, t, 777, &far);
    y[t] = curand_uniform(&s);
    for (int i = 1; i < 777; i++) curand(&s);
    bits[t] = curand(&s) == curand(&far);
    curandStatePhilox4_32_10_t p, q;
    curand_init(0, t, 0, &p);
    curand_init(0, t, 10, &q);
    uint4 first = curand4(&p);
    bits[64 + t] = first.x, bits[128 + t] = first.w;
    for (int i = 4; i < 10; i++) curand(&p);
    bits[192 + t] = curand(&p) == curand(&q);
    unsigned v[32];
    for (int i = 0; i < 32; i++) v[i] = 1u << (31 - i);
    curandStateSobol32 sobol;
    curand_init(v, (unsigned)t, &sobol);
    y[64 + t] = curand_uniform(&sobol);
    double sum = 0, squares = 0;
    for (int i = 0; i < 500; i++) {
        double a = curand_normal(&s), b = curand_normal_double(&p);
        sum += a + b, squares += a * a + b * b;
    }
    mean[t] = sum / 1000, mean[64 + t] = squares / 1000;
}
`

func TestRandomNumbers(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler, Checks: AllChecks()})
		m, err := d.Compile(device.Source{Name: "random.cu", Text: randomKernels})
		require.NoError(t, err)
		k, err := m.Kernel("numbers")
		require.NoError(t, err)
		y, err := device.Upload(d, "y", make([]float32, 128))
		require.NoError(t, err)
		bits, err := device.Upload(d, "bits", make([]uint32, 256))
		require.NoError(t, err)
		mean, err := device.Upload(d, "mean", make([]float64, 128))
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, y, bits, mean))
		uniform, err := y.CopyOut(d)
		require.NoError(t, err)
		// What cuRAND's manual prints for the seed 1234, a sequence each.
		for i, want := range []float64{0.1455, 0.8202, 0.5504, 0.2948, 0.9147, 0.8690, 0.3219, 0.7829, 0.0113, 0.2855} {
			assert.InDelta(t, want, uniform[i], 0.00005, "sequence %d", i)
		}
		b, err := bits.CopyOut(d)
		require.NoError(t, err)
		// Philox's published answer for a counter and a key of nothing but zeros.
		assert.Equal(t, []uint32{0x6627e8d5, 0x9b00dbd8}, []uint32{b[64], b[128]})
		moments, err := mean.CopyOut(d)
		require.NoError(t, err)
		sum, squares := 0.0, 0.0
		for i := range 64 {
			assert.Equal(t, []uint32{1, 1}, []uint32{b[i], b[192+i]}, "a jump of thread %d", i)
			gray, radical := i^i>>1, 0.0
			for k := range 6 {
				radical += float64(gray>>k&1) * math.Ldexp(1, -1-k)
			}
			assert.InDelta(t, radical, uniform[64+i], 1e-7, "Sobol's %d", i)
			sum, squares = sum+moments[i]/64, squares+moments[64+i]/64
		}
		assert.InDelta(t, 0, sum, 4/math.Sqrt(64000), "four standard deviations")
		assert.InDelta(t, 1, squares, 4*math.Sqrt(2/64000.0))
		report, err := d.Report()
		require.NoError(t, err)
		assert.Empty(t, report.Findings)
	})
}
