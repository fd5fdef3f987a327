package remote_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/device/sim"
)

// BenchmarkLaunch: what it costs to launch a kernel that does next to nothing, in the
// simulator itself and behind a socket.
func BenchmarkLaunch(b *testing.B) {
	d, err := sim.Start(sim.Options{Workers: 1})
	require.NoError(b, err)
	defer d.Close()
	here, there := net.Pipe()
	shelf := remote.Shelf{}
	go func() { _ = (&remote.Server{Device: d, Find: shelf.Find}).Serve(there) }()
	client, err := remote.Dial(here)
	require.NoError(b, err)
	for name, q := range map[string]device.Queue{"direct": d, "remote": remote.Shelved{Device: client, Shelf: shelf}} {
		m, err := q.Compile(device.Source{Name: "k.cu", Text: `extern "C" __global__ void k(float *x, float *y, float *z, int m, int n, float s) {}`})
		require.NoError(b, err)
		k, err := m.Kernel("k")
		require.NoError(b, err)
		x, err := device.Alloc[float32](q, "x", 64)
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, q.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(1)}, x, x, x, 1, 2, float32(3)))
			}
		})
		data := make([]byte, 4<<20)
		m4, err := q.Malloc("large", int64(len(data)))
		require.NoError(b, err)
		b.Run(name+" copy", func(b *testing.B) {
			b.SetBytes(2 * int64(len(data)))
			for b.Loop() {
				require.NoError(b, q.CopyIn(m4, data))
				require.NoError(b, q.CopyOut(data, m4))
			}
		})
	}
}
