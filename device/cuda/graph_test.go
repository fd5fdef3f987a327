//go:build cuda

package cuda

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// TestGraphOfFreedBuffer: the address may be another buffer's by then.
func TestGraphOfFreedBuffer(t *testing.T) {
	d := open(t)
	defer d.Close()
	twice := load(t, d, "twice")
	x, err := device.Upload(d, "gone", []float32{1, 2, 3})
	require.NoError(t, err)
	on := func(x device.Buffer[float32]) func(q device.Queue) error {
		return func(q device.Queue) error { return q.Launch(twice, one(3), x) }
	}
	g, err := d.Record(on(x))
	require.NoError(t, err)
	require.NoError(t, x.Free(d))
	err = g.Launch()
	require.ErrorIs(t, err, device.ErrLaunch)
	assert.ErrorContains(t, err, `"gone"`)
	_, err = d.Record(on(x))
	require.ErrorIs(t, err, device.ErrLaunch)

	y, err := device.Upload(d, "y", []float32{1, 2, 3})
	require.NoError(t, err)
	require.NoError(t, g.Update(on(y)))
	require.NoError(t, g.Launch())
	got, err := y.CopyOut(d)
	require.NoError(t, err)
	assert.Equal(t, []float32{2, 4, 6}, got)
	require.NoError(t, d.Close())
	require.NoError(t, g.Close(), "after its device")
}

// TestWhatAGraphMayNotHold: what only tests and graders call is refused, too.
func TestWhatAGraphMayNotHold(t *testing.T) {
	d := open(t)
	defer d.Close()
	e, err := d.NewEvent()
	require.NoError(t, err)
	_, err = d.Record(func(device.Queue) error { return e.Record() })
	require.ErrorIs(t, err, device.ErrNotRecordable)
	works(t, d)
}

func TestAttributes(t *testing.T) {
	d := open(t)
	defer d.Close()
	a, err := d.Attributes(load(t, d, "held"))
	require.NoError(t, err)
	t.Logf("%+v", a)
	assert.Equal(t, 16<<10, a.SharedBytes)
	assert.Positive(t, a.Registers)
	assert.Zero(t, a.LocalBytes)
	assert.GreaterOrEqual(t, a.MaxThreads, 128)
}

// TestChildFaultInGraph: the kernel is named that did it, or may have done it.
func TestChildFaultInGraph(t *testing.T) {
	inChild(t)
	d := open(t)
	x, err := device.Upload(d, "x", []float32{1, 2, 3})
	require.NoError(t, err)
	spoil := load(t, d, "spoil")
	g, err := d.Record(func(q device.Queue) error { return q.Launch(spoil, one(1), x, int64(1)<<38) })
	require.NoError(t, err)
	require.NoError(t, d.Sync(), "nothing ran yet")
	if err = g.Launch(); err == nil {
		err = d.Sync()
	}
	require.ErrorIs(t, err, device.ErrFault)
	assert.ErrorContains(t, err, "spoil")
	assert.ErrorIs(t, g.Launch(), device.ErrFault)
	require.NoError(t, d.Close())
}

func bench(b *testing.B) (device.Device, func(q device.Queue) error) {
	d, err := Open(Options{})
	require.NoError(b, err)
	b.Cleanup(func() { d.Close() })
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: source})
	require.NoError(b, err)
	k, err := m.Kernel("twice")
	require.NoError(b, err)
	x, err := device.Alloc[float32](d, "x", 32)
	require.NoError(b, err)
	return d, func(q device.Queue) error { return q.Launch(k, one(32), x) }
}

// BenchmarkLaunch is the cost of a launch on its own, BenchmarkGraph that of one
// kernel among 100 of a graph: ns/kernel, the GPU's work included.
func BenchmarkLaunch(b *testing.B) { perKernel(b, 1) }

func BenchmarkGraph(b *testing.B) { perKernel(b, 100) }

func perKernel(b *testing.B, kernels int) {
	d, launch := bench(b)
	start := func() error { return launch(d) }
	if kernels > 1 {
		g, err := d.Record(func(q device.Queue) error {
			for range kernels {
				if err := launch(q); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(b, err)
		start = g.Launch
	}
	require.NoError(b, start())
	require.NoError(b, d.Sync())
	begin := time.Now()
	for b.Loop() {
		if err := start(); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, d.Sync())
	b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(b.N*kernels), "ns/kernel")
}

// inTurn moves numbers on by one place, and adds 1: after it has waited for what came
// before. The next kernel may begin at once.
const inTurn = `
extern "C" __global__ void in_turn(float *to, const float *from, int n) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[(i + n - 1) % n] + 1.0f;
}
`

// TestEarlyLaunches: kernels that wait by themselves come one after another all the
// same, alone and in a graph, whose work may be replaced.
func TestEarlyLaunches(t *testing.T) {
	assert.False(t, overlaps("sm_89"))
	assert.True(t, overlaps("sm_90"))
	assert.True(t, overlaps("sm_100"))

	d := open(t)
	defer d.Close()
	module, err := d.Compile(device.Source{Name: "turn.cu", Text: inTurn})
	require.NoError(t, err)
	kernel, err := module.Kernel("in_turn")
	require.NoError(t, err)
	const n, turns = 1 << 20, 100
	zeros := make([]float32, n)
	x, err := device.Upload(d, "x", zeros)
	require.NoError(t, err)
	y, err := device.Upload(d, "y", zeros)
	require.NoError(t, err)
	work := func(turns int) func(device.Queue) error {
		return func(q device.Queue) error {
			for range turns {
				for _, b := range [][2]device.Buffer[float32]{{y, x}, {x, y}} {
					l := device.Launch{Grid: device.D1(n / 256), Block: device.D1(256), Early: true}
					if err := q.Launch(kernel, l, b[0], b[1], n); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	require.NoError(t, work(turns)(d))
	g, err := d.Record(work(turns))
	require.NoError(t, err)
	require.NoError(t, g.Launch())
	require.NoError(t, g.Update(work(turns+1)))
	require.NoError(t, g.Launch())
	got, err := x.CopyOut(d)
	require.NoError(t, err)
	for i, v := range got {
		require.Equal(t, float32(2*(3*turns+1)), v, "element %d", i)
	}
}
