package sim

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

//go:embed testdata/traffic.cu
var trafficKernels string

// 2 blocks of 64 threads: 128 threads, 4 warps.
func countTraffic(t *testing.T, d *Device, name string) trace.Counts {
	t.Helper()
	require.NoError(t, d.Reset())
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: trafficKernels})
	require.NoError(t, err)
	k, err := m.Kernel(name)
	require.NoError(t, err)
	x, err := device.Upload(d, "x", make([]float32, 1024))
	require.NoError(t, err)
	y, err := device.Upload(d, "y", make([]float32, 1024))
	require.NoError(t, err)
	blocks := 2
	if name == "column" || name == "column_padded" {
		blocks = 1
	}
	var args []any
	for _, p := range k.Signature().Params {
		buffer := x
		if p.Name == "y" {
			buffer = y
		}
		args = append(args, buffer)
	}
	require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(blocks), Block: device.D1(64)}, args...))
	r, err := d.Report()
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Len(t, r.Launches, 1)
	return r.Launches[0]
}

func TestTrafficIsWhatAHandCounts(t *testing.T) {
	want := map[string]struct{ read, written, sectorsRead, sectorsWritten uint64 }{
		// A warp's 32 floats fill 4 sectors of 32 bytes.
		"copies": {512, 512, 16, 16},
		// 32 × 16 bytes: 16 sectors a warp.
		"copies_wide": {2048, 2048, 64, 64},
		// Every element read is in a different sector: 32 a warp.
		"strided": {512, 512, 128, 16},
		// One sector serves the whole warp.
		"broadcast": {512, 512, 4, 16},
		// Shifted by one element, a warp touches a fifth sector.
		"misplaced": {512, 512, 20, 16},
		// 2000 requests a warp, of which a run of 8 starts 1 in 8 aligned
		// (4 sectors), the others 5; the wrap at 128 falls on a sector's edge.
		"loops": {2000 * 512, 512, 4 * (2000/8*4 + 2000*7/8*5), 16},
	}
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: Checks{Mem: true, Traffic: true}, Compiler: compiler})
		for name, w := range want {
			c := countTraffic(t, d, name)
			assert.Equal(t, w.read, c.GlobalRead, "%s: bytes read", name)
			assert.Equal(t, w.written, c.GlobalWritten, "%s: bytes written", name)
			assert.Equal(t, w.sectorsRead, c.SectorsRead, "%s: sectors read", name)
			assert.Equal(t, w.sectorsWritten, c.SectorsWritten, "%s: sectors written", name)
		}
	})
}

func TestDeviceMemoryIsModelled(t *testing.T) {
	d := start(t, Options{Checks: AllChecks(), Workers: 3})
	c := countTraffic(t, d, "loops") // 2000 passes over 128 floats
	assert.Equal(t, uint64(512), c.DeviceRead)
	assert.Equal(t, uint64(512), c.DeviceWritten)
	c = countTraffic(t, d, "strided") // a sector for each of 128 elements
	assert.Equal(t, uint64(128*32), c.DeviceRead)
	c = countTraffic(t, d, "broadcast")
	assert.Equal(t, uint64(32), c.DeviceRead)
}

func TestLanesThatGoDifferentWaysAreCounted(t *testing.T) {
	d := start(t, Options{Checks: Checks{Mem: true, Traffic: true}})
	c := countTraffic(t, d, "diverges")
	assert.Equal(t, uint64(64*4*(3000+3001)), c.GlobalRead, "every byte is counted")
	// A request of half a warp each, all at one address; where the trace is cut
	// some requests are counted in parts.
	assert.InEpsilon(t, 4*(3000+3001), float64(c.SectorsRead), 0.2)
	assert.Equal(t, uint64(16), c.SectorsWritten)

	c = countTraffic(t, d, "makes_up")
	assert.Equal(t, uint64(128*4*8), c.GlobalRead, "every byte is counted")
}

func TestBankConflictsAreCounted(t *testing.T) {
	d := start(t, Options{Checks: Checks{Mem: true, Traffic: true}})
	// 32 lanes on one bank: 32 passes for the write and 32 for the read.
	c := countTraffic(t, d, "column")
	assert.Equal(t, uint64(64), c.SharedPasses)
	assert.Equal(t, uint64(2), c.SharedRequests)
	// A column of padding spreads them over all banks.
	c = countTraffic(t, d, "column_padded")
	assert.Equal(t, uint64(2), c.SharedPasses)
	assert.Equal(t, uint64(1), c.Barriers)
}

// TestTheLongestBlockIsFound: block b of 3 loops b + 1 times, on two workers. Then a
// launch of one block leaves a worker idle.
func TestTheLongestBlockIsFound(t *testing.T) {
	d := start(t, Options{Checks: Checks{Traffic: true}, Workers: 2})
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: `extern "C" __global__ void rounds(float *x) {
    for (int i = 0; i <= blockIdx.x; i++) x[blockIdx.x * 100 + i] = 1.0f;
}`})
	require.NoError(t, err)
	k, err := m.Kernel("rounds")
	require.NoError(t, err)
	x, err := device.Alloc[float32](d, "x", 1000)
	require.NoError(t, err)
	var last trace.Counts
	grow := func(blocks int) (steps, longest uint64) {
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(blocks), Block: device.D1(1)}, x))
		r, err := d.Report()
		require.NoError(t, err)
		c := r.Launches[0]
		steps, longest = c.Steps-last.Steps, c.LongestBlock-last.LongestBlock
		last = c
		return steps, longest
	}
	steps, one := grow(1)
	assert.Equal(t, steps, one)
	steps, three := grow(3)
	assert.Greater(t, three, one)
	assert.Less(t, three, steps)
	again, longest := grow(1)
	assert.Equal(t, one, again, "an idle worker's last launch does not count again")
	assert.Equal(t, one, longest)
}

func TestLinesHaveStepsAndBarriers(t *testing.T) {
	d := start(t, Options{Checks: AllChecks(), Lines: true})
	c := countTraffic(t, d, "column") // one block of 64 threads, half of which do something
	assert.Equal(t, [3]int{1, 1, 1}, c.Grid)
	assert.Equal(t, [3]int{64, 1, 1}, c.Block)
	assert.Equal(t, uint64(1), c.Blocks)
	at := map[string]trace.LineSteps{}
	var barriers uint64
	for _, l := range c.LineSteps {
		require.Equal(t, "kernels.cu", l.File)
		at[strings.TrimSpace(strings.Split(trafficKernels, "\n")[l.Line-1])] = l
		barriers += l.Barriers
	}
	assert.Equal(t, c.Barriers, barriers)
	assert.Equal(t, uint64(1), at["__syncthreads();"].Barriers)
	assert.GreaterOrEqual(t, at["__syncthreads();"].Steps, uint64(64), "all arrive")
	assert.GreaterOrEqual(t, at["if (t < 32) y[t] = tile[t * 32];"].Steps, uint64(2*32), "two accesses of each")
	for _, l := range c.LineCounts {
		assert.Equal(t, uint64(32), l.Lanes, "line %d", l.Line)
	}

	plain, err := Start(Options{Checks: AllChecks()}) // without FLOPs, for which they are told, too
	require.NoError(t, err)
	defer plain.Close()
	assert.Empty(t, countTraffic(t, plain, "column").LineSteps)
}
