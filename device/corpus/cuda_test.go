//go:build cuda

package corpus

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/cuda"
	"flashlab/device/sim"
)

// TestGPUAndSimulatorAgree runs every case on both: each keeps its bound to
// float64, and so they differ by twice that at most; integers not at all.
func TestGPUAndSimulatorAgree(t *testing.T) {
	gpu, err := cuda.Open(cuda.Options{})
	require.NoError(t, err)
	defer gpu.Close()
	var onGPU, onSim map[string]Computed
	t.Run("GPU", func(t *testing.T) { onGPU = Check(t, gpu) })
	t.Run("simulator", func(t *testing.T) { onSim = Check(t, simulator(t, sim.Options{})) })
	exact, largest := 0, 0.0
	for name, ours := range onSim {
		there, bound := onGPU[name], ours.Bound
		off, at := distance(there.Values, ours.Values)
		if off == 0 {
			exact++
		}
		if bound > 0 {
			largest = max(largest, off/bound)
		}
		assert.LessOrEqual(t, off, 2*bound, "%s: element %d is %v on the GPU, %v on the simulator", name, at, value(there.Values, at), value(ours.Values, at))
	}
	t.Logf("%s: %d cases, %d of them the same to the last bit; the others differ by %.2f of the bound to float64 at most",
		gpu.Info().Name, len(onSim), exact, largest)
}

// TestTwinsRunOnTheGPU: what is called right must not fail there.
func TestTwinsRunOnTheGPU(t *testing.T) {
	bugs, err := Bugs()
	require.NoError(t, err)
	gpu, err := cuda.Open(cuda.Options{})
	require.NoError(t, err)
	defer gpu.Close()
	r := NewRunner(gpu)
	for _, b := range bugs {
		require.NoError(t, r.Run(b, true), b.Twin())
	}
}
