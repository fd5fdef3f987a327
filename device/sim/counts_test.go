//go:build cuda

package sim

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/cuda"
)

// TestCountsForProfiler runs five kernels on the GPU and in the simulator, and
// prints what the simulator counted. scripts/ncu-agreement.sh runs it under ncu
// and puts the hardware's counters beside these.
func TestCountsForProfiler(t *testing.T) {
	if os.Getenv("FLASHLAB_COUNTS") == "" {
		t.Skip("run by scripts/ncu-agreement.sh")
	}
	gpu, err := cuda.Open(cuda.Options{})
	require.NoError(t, err)
	defer gpu.Close()
	runProfiled(t, gpu)

	s := start(t, Options{Checks: Checks{Mem: true, Traffic: true}})
	runProfiled(t, s)
	r, err := s.Report()
	require.NoError(t, err)
	for _, c := range r.Launches {
		fmt.Printf("sim %s %d %d %d\n", c.Kernel, c.SectorsRead, c.SectorsWritten, c.FLOPs)
	}
}

func runProfiled(t *testing.T, d device.Device) {
	t.Helper()
	var x [4]device.Buffer[float32]
	data := make([]float32, 256*256)
	for i := range data {
		data[i] = float32(i%7) - 3
	}
	for i := range x {
		var err error
		x[i], err = device.Upload(d, "x", data)
		require.NoError(t, err)
	}
	launch := func(text, name string, l device.Launch, args ...any) {
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: text})
		require.NoError(t, err)
		k, err := m.Kernel(name)
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, l, args...))
		require.NoError(t, d.Sync())
	}
	line := device.Launch{Grid: device.D1(64), Block: device.D1(128)}
	launch(trafficKernels, "copies", line, x[0], x[1])
	launch(trafficKernels, "strided", line, x[0], x[1])
	launch(trafficKernels, "misplaced", line, x[0], x[1])
	launch(benchKernels, "sgemm", device.Launch{Grid: device.D2(16, 16), Block: device.D2(16, 16)}, x[0], x[1], x[2], 256)
	launch(benchKernels, "flash", device.Launch{Grid: device.D1(8), Block: device.D1(64)}, x[0], x[1], x[2], x[3], 512, float32(0.125))
}
