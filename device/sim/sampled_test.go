package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

const sampledKernels = `
extern "C" __global__ void mark(float *out) { out[blockIdx.x] = 1; }
extern "C" __global__ void __cluster_dims__(2, 1, 1) mark_pairs(float *out) { out[blockIdx.x] = 1; }
// All warps read the same numbers at once, twice over.
extern "C" __global__ void sums(const float *x, float *out, int n) {
    float sum = 0;
    for (int round = 0; round < 2; round++)
        for (int i = threadIdx.x % 32; i < n; i += 32) sum += x[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// Each lane reads numbers beside each other, one after another.
extern "C" __global__ void rows(const float *x, float *out, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[threadIdx.x * n + i];
    out[threadIdx.x] = sum;
}
// Each block writes as often as its number says, or as a number says that is drawn from it.
extern "C" __global__ void rising(float *out) {
    for (int i = 0; i < 100 + blockIdx.x; i++) out[blockIdx.x] = i;
}
extern "C" __global__ void uneven(float *out) {
    for (int i = 0; i < 100 + blockIdx.x * 2654435761u % 1000; i++) out[blockIdx.x] = i;
}`

// sampling launches one of these kernels, and returns what was counted and written.
func sampling(t *testing.T, o Options, kernel string, l device.Launch, in int, args ...any) (trace.Counts, []float32) {
	t.Helper()
	d := start(t, o)
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: sampledKernels})
	require.NoError(t, err)
	k, err := m.Kernel(kernel)
	require.NoError(t, err)
	out, err := device.Upload(d, "out", make([]float32, int(l.Grid.X)*int(l.Block.X)))
	require.NoError(t, err)
	all := []any{out}
	if in > 0 {
		x, err := device.Upload(d, "x", make([]float32, in))
		require.NoError(t, err)
		all = append([]any{x}, all...)
	}
	require.NoError(t, d.Launch(k, l, append(all, args...)...))
	r, err := d.Report()
	require.NoError(t, err)
	require.Len(t, r.Launches, 1)
	written, err := out.CopyOut(d)
	require.NoError(t, err)
	return r.Launches[0], written
}

// A sample's blocks lie in equal shares of the grid, each elsewhere in its own; all of a cluster's run, and all of a cooperative launch.
func TestOnlyASampleOfTheBlocksRuns(t *testing.T) {
	for _, c := range []struct {
		kernel string
		sample int
		launch device.Launch
		ran    []int
	}{
		{"mark", 0, device.Launch{Grid: device.D1(5), Block: device.D1(1)}, []int{0, 1, 2, 3, 4}},
		{"mark", 4, device.Launch{Grid: device.D1(100), Block: device.D1(1)}, []int{3, 36, 69, 77}},
		{"mark", 4, device.Launch{Grid: device.D1(3), Block: device.D1(1)}, []int{0, 1, 2}},
		{"mark_pairs", 4, device.Launch{Grid: device.D1(16), Block: device.D1(1)}, []int{2, 3, 8, 9}},
		{"mark", 2, device.Launch{Grid: device.D1(5), Block: device.D1(1), Cooperative: true}, []int{0, 1, 2, 3, 4}},
	} {
		counts, written := sampling(t, Options{Checks: Checks{Traffic: true}, Sample: c.sample}, c.kernel, c.launch, 0)
		var ran []int
		for i, x := range written {
			if x == 1 {
				ran = append(ran, i)
			}
		}
		assert.Equal(t, c.ran, ran, c)
		assert.EqualValues(t, len(c.ran), counts.Ran, c)
		assert.EqualValues(t, c.launch.Grid.X, counts.Blocks, c)
		assert.EqualValues(t, 4*len(c.ran), counts.GlobalWritten, c)
	}
}

// Warps that read the same at the same time find it in the L1 cache, and so does a lane that reads on in a sector; what was
// read long ago is gone.
func TestTheL1CacheIsModelled(t *testing.T) {
	const n = 1 << 14
	counts, _ := sampling(t, Options{Checks: Checks{Traffic: true}}, "sums", device.Launch{Grid: device.D1(2), Block: device.D1(256)}, n, int32(n))
	assert.EqualValues(t, 2*2*n*4/sectorBytes*8, counts.SectorsRead)
	assert.EqualValues(t, 2*2*n*4/sectorBytes, counts.SectorsMissed)
	counts, _ = sampling(t, Options{Checks: Checks{Traffic: true}}, "rows", device.Launch{Grid: device.D1(1), Block: device.D1(32)}, 32*64, int32(64))
	assert.EqualValues(t, 32*64, counts.SectorsRead)
	assert.EqualValues(t, 32*64*4/sectorBytes, counts.SectorsMissed)
}

// What a sample's steps may be off by is told: nothing where all blocks ran or do the same, little where they differ from
// one end of the grid to the other alone, and more where they differ at random.
func TestTheErrorOfASampleIsTold(t *testing.T) {
	off := func(kernel string, sample, blocks int) (told, is float64) {
		l := device.Launch{Grid: device.D1(blocks), Block: device.D1(1)}
		all, _ := sampling(t, Options{Checks: Checks{Traffic: true}}, kernel, l, 0)
		some, _ := sampling(t, Options{Checks: Checks{Traffic: true}, Sample: sample}, kernel, l, 0)
		assert.Zero(t, all.Deviation())
		scaled := float64(some.Steps) * float64(some.Blocks) / float64(some.Ran)
		return some.Deviation(), math.Abs(scaled/float64(all.Steps) - 1)
	}
	told, is := off("mark", 8, 1000)
	assert.Zero(t, told)
	assert.Zero(t, is)
	told, is = off("rising", 8, 1000)
	assert.Less(t, told, 0.06)
	assert.Less(t, is, told)
	told, is = off("uneven", 8, 1000)
	assert.Greater(t, told, 0.06)
	assert.Less(t, told, 0.4)
	assert.Less(t, is, 3*told)
	told, _ = off("uneven", 1, 1000)
	assert.InDelta(t, 1, told, 1e-9, "one block says nothing of the others")
}
