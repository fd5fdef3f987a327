package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

const withVariables = `
__constant__ float mask[4];
__constant__ float zeros[4] = {0}, more[] = {0, 0};
__constant__ struct Pair { int a = 0, b = 7; } pair;
namespace ns { __constant__ int scale; }
extern __constant__ int later;
__constant__ __align__(16) float aligned[4];
__constant__ int later = 0;
__device__ float total;
extern "C" __global__ void reads_mask(float *o) { o[threadIdx.x] = mask[threadIdx.x]; }
extern "C" __global__ void reads_aligned(float *o) { o[threadIdx.x] = aligned[threadIdx.x]; }
extern "C" __global__ void reads_scale(float *o) { o[threadIdx.x] = ns::scale; }
extern "C" __global__ void reads_others(float *o) { o[threadIdx.x] = zeros[threadIdx.x] + more[0] + pair.a + pair.b + later + total; }
extern "C" __global__ void writes_total(float *o) { if (threadIdx.x == 0) total = o[0]; }
`

// A constant has a value once its declaration or Go gives it one.
func TestConstantsHaveToBeSet(t *testing.T) {
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "constants.cu", Text: withVariables})
		require.NoError(t, err)
		o, err := device.Upload(d, "o", []float32{5, 6, 7, 8})
		require.NoError(t, err)
		run := func(name string) (kinds map[int]string) {
			k, err := m.Kernel(name)
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(4)}, o))
			r, err := d.Report()
			require.NoError(t, err)
			return byLine(r.Findings)
		}
		set := func(name string, values []byte) {
			v, err := m.(device.Variables).Variable(name)
			require.NoError(t, err)
			require.Equal(t, int64(len(values)), v.Bytes, name)
			require.NoError(t, d.CopyIn(v, values))
		}
		assert.Empty(t, run("writes_total"))
		assert.Empty(t, run("reads_others"))
		got, err := o.CopyOut(d)
		require.NoError(t, err)
		assert.Equal(t, float32(12), got[1], "7 of the pair, 5 of the total")

		set("mask", []byte{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64})
		assert.Empty(t, run("reads_mask"))
		got, err = o.CopyOut(d)
		require.NoError(t, err)
		assert.Equal(t, []float32{1, 2, 3, 4}, got)

		assert.Equal(t, map[int]string{11: "uninitialised"}, run("reads_aligned"))
		r, err := d.Report()
		require.NoError(t, err)
		assert.Contains(t, r.Findings[0].String(), "read of a __constant__ that was never written: device variable aligned[0] (4 bytes)")
		assert.Contains(t, r.Findings[0].String(), "Variable(")
		assert.Equal(t, map[int]string{11: "uninitialised", 12: "uninitialised"}, run("reads_scale"))
		set("ns::scale", []byte{3, 0, 0, 0})
		assert.NoError(t, d.Reset())

		total, err := m.(device.Variables).Variable("total")
		require.NoError(t, err)
		back := make([]byte, 4)
		require.NoError(t, d.CopyOut(back, total))
		assert.Equal(t, []byte{0, 0, 160, 64}, back)
		assert.Error(t, d.Free(total), "a variable is not freed")
		total.Bytes += 4
		assert.Error(t, d.CopyIn(total, make([]byte, 8)), "beyond its end")
		for _, name := range []string{"scale", "absent", "reads_mask"} {
			_, err = m.(device.Variables).Variable(name)
			assert.ErrorContains(t, err, "has no variable "+name)
		}
	})
}
