package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// exchange launches the benchmark of that name, racing or not.
func exchange(t testing.TB, d *Device, blocks, rounds, apart int) {
	t.Helper()
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: benchKernels})
	require.NoError(t, err)
	k, err := m.Kernel("exchange")
	require.NoError(t, err)
	require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(blocks), Block: device.D1(64)}, rounds, apart))
}

func TestRepeatsOfAllBlocksAreCounted(t *testing.T) {
	const blocks = 5000 // more than there is room for different findings
	var first string
	for _, workers := range []int{1, 3} {
		d := start(t, Options{Checks: AllChecks(), Workers: workers})
		exchange(t, d, blocks, 2, 1)
		r, err := d.Report()
		require.NoError(t, err)
		var told string
		var count int
		for _, f := range r.Findings {
			assert.Equal(t, "race", f.Kind)
			told += f.String() + "\n"
			count += f.Count
		}
		// In each of two rounds a thread's two reads and its write meet what a
		// neighbour did before: a few hundred races a block.
		assert.Greater(t, count, blocks*64*2)
		assert.Zero(t, count%blocks, "as many in each block")
		if first == "" {
			first = told
		}
		assert.Equal(t, first, told, "with %d workers", workers)
	}
}

func TestRacesAreQuicklyReported(t *testing.T) {
	d := start(t, Options{Checks: AllChecks(), Workers: 1})
	least := func(apart int) int64 {
		var best int64
		for range 3 {
			began := processorTime(t, d)
			exchange(t, d, 1, 1000, apart)
			if used := processorTime(t, d) - began; best == 0 || used < best {
				best = used
			}
		}
		return best
	}
	clean, racing := least(0), least(1)
	t.Logf("clean %.1f ms, racing %.1f ms", float64(clean)/1e6, float64(racing)/1e6)
	// Some 2.2 times as long on a quiet machine.
	assert.Less(t, racing, 5*clean)
}
