package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

// grid launches a kernel of grids.cu, and returns y and what was found.
func grid(t *testing.T, d *Device, src device.Source, kernel string, l device.Launch) (
	[]float32, *trace.Report, error) {
	t.Helper()
	m, err := d.Compile(src)
	require.NoError(t, err)
	k, err := m.Kernel(kernel)
	require.NoError(t, err)
	values := make([]float32, 4096)
	for i := range values {
		values[i] = 1
	}
	x, err := device.Upload(d, "x", values)
	require.NoError(t, err)
	y, err := device.Upload(d, "y", make([]float32, 4097))
	require.NoError(t, err)
	failed := d.Launch(k, l, x, y)
	got, err := y.CopyOut(d)
	require.NoError(t, err)
	r, err := d.Report()
	require.NoError(t, err)
	return got, r, failed
}

func gridKernels(t *testing.T) device.Source {
	return device.Source{Name: "grids.cu", Text: readBugs(t, "grids.cu")}
}

func TestBlocksMeetAtBarriersOfTheGrid(t *testing.T) {
	bothCompilers(t, func(t *testing.T, compiler string) {
		for _, workers := range []int{1, 2} {
			const blocks = 5
			l := device.Launch{Grid: device.D1(blocks), Block: device.D1(64), Cooperative: true}
			forEachBug(gridKernels(t), func(src device.Source, name string, want *trace.Finding) {
				d := start(t, Options{Checks: AllChecks(), Compiler: compiler, Workers: workers})
				got, r, err := grid(t, d, src, name, l)
				there := map[int]string{}
				if want != nil {
					there[want.Line] = want.Kind
				}
				assert.Equal(t, there, byLine(r.Findings), "%s: %v", name, r.Findings)
				switch name {
				case "sum_of_all":
					require.NoError(t, err)
					assert.Equal(t, float32(64*blocks*blocks*blocks), got[blocks-1])
				case "barrier_by_hand":
					require.NoError(t, err)
					assert.Equal(t, float32(1), got[2048+64*blocks-1])
				}
			})
		}
	})
}

// Ordinary launches go on as before, and what no GPU holds at once is refused.
func TestCooperativeLaunchesHaveToFit(t *testing.T) {
	src := gridKernels(t)
	d := start(t, Options{Checks: AllChecks()})
	for _, c := range []struct {
		l    device.Launch
		want string
	}{
		{device.Launch{Grid: device.D1(133), Block: device.D1(1024), Shared: 120 << 10}, "an H200's 132 multiprocessors hold 1 of this size each, 132 in all"},
		{device.Launch{Grid: device.D1(300), Block: device.D1(1024)}, "hold 2 of this size each, 264 in all"},
		{device.Launch{Grid: device.D1(200), Block: device.D1(1024)}, "the simulator runs 20480 at once"},
	} {
		c.l.Cooperative = true
		_, _, err := grid(t, d, src, "sum_of_all", c.l)
		assert.ErrorContains(t, err, c.want)
	}
	_, _, err := grid(t, d, src, "many_registers", device.Launch{Grid: device.D1(133), Block: device.D1(512), Cooperative: true})
	assert.ErrorContains(t, err, "hold 1 of this size each (its __launch_bounds__(512, 1) let a thread have 128 registers: 65536 of them are enough for 1 block of 512 threads), 132 in all")
	_, _, err = grid(t, d, src, "many_registers", device.Launch{Grid: device.D1(4), Block: device.D1(1024)})
	assert.ErrorContains(t, err, "a block of 1024 threads: the kernel's __launch_bounds__ allow 512")
	_, r, err := grid(t, d, src, "sum_of_all", device.Launch{Grid: device.D1(2), Block: device.D1(64)})
	assert.Error(t, err)
	require.Len(t, r.Findings, 1)
	assert.Equal(t, "not a cooperative launch", r.Findings[0].Kind)
	require.NoError(t, d.Reset())
	got, r, err := grid(t, d, src, "sum_of_all", device.Launch{Grid: device.D1(32), Block: device.D1(64), Cooperative: true})
	require.NoError(t, err)
	assert.Empty(t, r.Findings)
	assert.Equal(t, float32(64*32*32*32), got[0])
	exchange(t, d, 500, 2, 0)
}
