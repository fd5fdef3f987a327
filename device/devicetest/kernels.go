package devicetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func adds(t *testing.T, b bench) {
	const n = 1000
	x, y := upload(t, b, "x", ramp[float32](n)), upload(t, b, "y", ramp[float32](n))
	sum := alloc[float32](t, b, "sum", n)
	b.launch(t, "add", device.Launch{Grid: device.D1((n + 127) / 128), Block: device.D1(128)}, x, y, sum, n)
	want := make([]float32, n)
	for i := range want {
		want[i] = 2 * float32(i)
	}
	assert.Equal(t, want, download(t, b, sum))
}

func countsIndices(t *testing.T, b bench) {
	for _, l := range []device.Launch{
		{Grid: device.Dim{X: 5}, Block: device.Dim{X: 33}}, // zero counts as one
		{Grid: device.D2(3, 4), Block: device.D2(7, 5)},
		{Grid: device.D3(2, 3, 4), Block: device.D3(5, 3, 2)},
	} {
		t.Run(fmt.Sprintf("%v of %v", l.Grid, l.Block), func(t *testing.T) {
			want := wantIndices(atLeastOne(l.Grid), atLeastOne(l.Block))
			out := alloc[int32](t, b, "out", len(want))
			b.launch(t, "indices", l, out)
			assert.Equal(t, want, download(t, b, out))
		})
	}
}

func atLeastOne(d device.Dim) device.Dim {
	return device.Dim{X: d.X, Y: max(d.Y, 1), Z: max(d.Z, 1)}
}

// wantIndices lists what the kernel indices writes, thread by thread.
func wantIndices(grid, block device.Dim) []int32 {
	var want []int32
	each(grid, func(bx, by, bz int) {
		each(block, func(tx, ty, tz int) {
			for _, v := range []int{tx, ty, tz, bx, by, bz, block.X, block.Y, block.Z, grid.X, grid.Y, grid.Z} {
				want = append(want, int32(v))
			}
		})
	})
	return want
}

// each visits every point, x fastest.
func each(d device.Dim, visit func(x, y, z int)) {
	for z := range d.Z {
		for y := range d.Y {
			for x := range d.X {
				visit(x, y, z)
			}
		}
	}
}

func sumsBlocks(t *testing.T, b bench) {
	const blocks = 5
	in := upload(t, b, "in", ramp[float32](blocks*256))
	sums := alloc[float32](t, b, "sums", blocks)
	b.launch(t, "blockSum", device.Launch{Grid: device.D1(blocks), Block: device.D1(256)}, in, sums)
	want := make([]float32, blocks)
	for i := range want {
		want[i] = float32(256*256*i + 255*128) // whole numbers below 2²⁴: exact in any order
	}
	assert.Equal(t, want, download(t, b, sums))
}

// reverses: little dynamic shared memory, and more than the 48 KB that CUDA
// allows without being asked.
func reverses(t *testing.T, b bench) {
	for _, bytes := range []int{512, min(b.Info().MaxShared, 100*1024), b.Info().MaxShared} {
		t.Run(fmt.Sprint(bytes, " bytes"), func(t *testing.T) {
			n := bytes / 4
			in, out := upload(t, b, "in", ramp[int32](n)), alloc[int32](t, b, "out", n)
			b.launch(t, "reverse", device.Launch{Grid: device.D1(1), Block: device.D1(128), Shared: bytes}, in, out, n)
			for i, v := range download(t, b, out) {
				require.Equal(t, int32(n-1-i), v, "element %d", i)
			}
		})
	}
}

func looksUp(t *testing.T, b bench) {
	out := alloc[int32](t, b, "out", 10)
	b.launch(t, "lookUp", device.Launch{Grid: device.D1(1), Block: device.D1(10)}, out, -2)
	assert.Equal(t, []int32{-4, -6, -10, -14, -22, -26, -34, -38, -4, -6}, download(t, b, out))
}

func passesArguments(t *testing.T, b bench) {
	floats, ints := alloc[float64](t, b, "floats", 2), alloc[int64](t, b, "ints", 6)
	one := device.Launch{Grid: device.D1(1), Block: device.D1(1)}
	b.launch(t, "passOn", one, true, math.Pi, -12345, int64(math.MinInt64+1), float32(1e-30),
		uint32(4_000_000_000), uint64(math.MaxUint64-2), -2_000_000_000, floats, ints)
	assert.Equal(t, []float64{math.Pi, float64(float32(1e-30))}, download(t, b, floats))
	assert.Equal(t, []int64{1, -12345, math.MinInt64 + 1, 4_000_000_000, -3, -2_000_000_000}, download(t, b, ints))
}

func passesStructs(t *testing.T, b bench) {
	type straight struct {
		From  int16
		Slope float32
	}
	y := alloc[float32](t, b, "y", 3)
	three := device.Launch{Grid: device.D1(1), Block: device.D1(3)}
	b.launch(t, "passStruct", three, straight{-7, 0.5}, y)
	assert.Equal(t, []float32{-7, -6.5, -6}, download(t, b, y))
	assert.ErrorContains(t, b.Launch(b.kernel(t, "passStruct"), three, float32(1), y),
		"argument 1 (Straight line): got a float32 of 4 bytes, and the kernel's Straight has 8")
}

func keepsOrder(t *testing.T, b bench) {
	x := upload(t, b, "x", []uint32{7})
	step := b.kernel(t, "step")
	one := device.Launch{Grid: device.D1(1), Block: device.D1(1)}
	want := uint32(7)
	for k := range uint32(200) {
		require.NoError(t, b.Launch(step, one, x, k))
		want = want*3 + k
		if k == 100 { // a Set between launches waits its turn, too
			require.NoError(t, b.Set(x.Memory(), 1))
			want = 0x01010101
		}
	}
	assert.Equal(t, []uint32{want}, download(t, b, x), "without a Sync in between")
}

func defines(t *testing.T, b bench) {
	const text = `extern "C" __global__ void fill(int *out) { out[threadIdx.x] = SCALE * threadIdx.x + OFFSET; }`
	for _, offset := range []int32{5, 40} {
		m, err := b.Compile(device.Source{Name: "fill.cu", Text: text, Defines: map[string]string{
			"OFFSET": fmt.Sprint(offset),
			"SCALE":  "(1 + 1)",
		}})
		require.NoError(t, err)
		k, err := m.Kernel("fill")
		require.NoError(t, err)
		out := alloc[int32](t, b, "out", 3)
		require.NoError(t, b.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(3)}, out))
		assert.Equal(t, []int32{offset, offset + 2, offset + 4}, download(t, b, out))
	}
}

// macrosWriteKernels as people write families of them.
func macrosWriteKernels(t *testing.T, b bench) {
	const text = `#define FILL(NAME, VALUE)                                     \
    extern "C" __global__ void NAME##VALUE(int *out, int step) { \
        out[threadIdx.x] = VALUE + step * threadIdx.x;           \
    }
FILL(from, 5)
FILL(from, 40)`
	m, err := b.Compile(device.Source{Name: "families.cu", Text: text})
	require.NoError(t, err)
	for _, start := range []int32{5, 40} {
		k, err := m.Kernel(fmt.Sprintf("from%d", start))
		require.NoError(t, err)
		out := alloc[int32](t, b, "out", 3)
		require.NoError(t, b.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(3)}, out, 3))
		assert.Equal(t, []int32{start, start + 3, start + 6}, download(t, b, out))
	}
}

// picksADefinition where #if chooses between two, with other parameters.
func picksADefinition(t *testing.T, b bench) {
	const text = `#if WIDE
extern "C" __global__ void fill(int *out, long long step, int start) { out[threadIdx.x] = start + (int)step * threadIdx.x; }
#else
extern "C" __global__ void fill(int *out, int step) { out[threadIdx.x] = step * threadIdx.x; }
#endif`
	for wide, args := range map[string][]any{"0": {3}, "1": {int64(3), 40}} {
		m, err := b.Compile(device.Source{Name: "choice.cu", Text: text, Defines: map[string]string{"WIDE": wide}})
		require.NoError(t, err)
		k, err := m.Kernel("fill")
		require.NoError(t, err)
		out := alloc[int32](t, b, "out", 3)
		require.NoError(t, b.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(3)}, append([]any{out}, args...)...))
		start := int32(0)
		if wide == "1" {
			start = 40
		}
		assert.Equal(t, []int32{start, start + 3, start + 6}, download(t, b, out))
	}
}

func keepsTime(t *testing.T, b bench) {
	start, err := b.NewEvent()
	if err != nil {
		require.ErrorIs(t, err, device.ErrNoClock)
		t.Skip("this device keeps no time")
	}
	end, err := b.NewEvent()
	require.NoError(t, err)
	require.NoError(t, start.Record())
	adds(t, b)
	require.NoError(t, end.Record())
	took, err := end.Since(start)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, took, time.Duration(0))
	assert.Less(t, took, time.Minute)
	asked, ok := end.(device.Asked)
	require.True(t, ok, "an event of a device with a clock can be asked")
	passed, err := asked.Passed()
	require.NoError(t, err)
	assert.True(t, passed, "Since has waited for it")
	require.NoError(t, start.Close())
	require.NoError(t, end.Close())
}
