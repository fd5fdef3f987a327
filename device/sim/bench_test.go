package sim

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"flashlab/device"
)

//go:embed testdata/bench.cu
var benchKernels string

var benchModes = []struct {
	name   string
	checks Checks
	unroll bool
}{
	{"none", Checks{}, false},
	{"memcheck", Checks{Mem: true}, false},
	{"all", AllChecks(), false},
	{"unrolled", AllChecks(), true},
}

// processorTime is what the simulator's process has used so far, in ns: other
// work on the machine disturbs it less than the clock on the wall.
func processorTime(b testing.TB, d *Device) int64 {
	const ofProcess = 2 // CPUCLOCK_SCHED of a process that is not the caller
	var now unix.Timespec
	require.NoError(b, unix.ClockGettime(int32(^d.process.cmd.Process.Pid<<3|ofProcess), &now))
	return now.Nano()
}

// BenchmarkKernels times whole launches; ns/access is the processor time of one
// load or store that the hooks saw.
func BenchmarkKernels(b *testing.B) {
	for _, mode := range benchModes {
		d, err := Start(Options{Checks: mode.checks, Unroll: mode.unroll, Workers: 1}) // figures for one core
		require.NoError(b, err)
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: benchKernels})
		require.NoError(b, err)
		data := make([]float32, 512*256)
		for i := range data {
			data[i] = float32(i%7) - 3
		}
		var x [4]device.Buffer[float32]
		for i := range x {
			x[i], err = device.Upload(d, "x", data)
			require.NoError(b, err)
		}
		bench := func(name string, l device.Launch, accesses int, args ...any) {
			kernel, _, _ := strings.Cut(name, " ")
			k, err := m.Kernel(kernel)
			require.NoError(b, err)
			b.Run(name+"/"+mode.name, func(b *testing.B) {
				began := processorTime(b, d)
				for b.Loop() {
					require.NoError(b, d.Launch(k, l, args...))
				}
				used := processorTime(b, d) - began
				b.ReportMetric(float64(used)/float64(b.N)/float64(accesses), "ns/access")
			})
		}
		// SGEMM 256³: each multiply-add reads two floats, each tile stores two.
		bench("sgemm", device.Launch{Grid: device.D2(16, 16), Block: device.D2(16, 16)}, 2*256*256*256+4*16*256*256, x[0], x[1], x[2], 256)
		// The same with 8×8 sums a thread: an eighth of the reads, and four accesses of local memory, which
		// are none here, for each multiply-add.
		bench("registers", device.Launch{Grid: device.D2(4, 4), Block: device.D2(8, 8)}, 2*256*256*256/8+4*4*256*256+256*256, x[0], x[1], x[2], 256)
		// Flash 512 × 64: two reads a key, dimension and query.
		bench("flash", device.Launch{Grid: device.D1(8), Block: device.D1(64)}, 2*512*512*64, x[0], x[1], x[2], x[3], 512, float32(0.125))
		bench("barriers", device.Launch{Grid: device.D1(1), Block: device.D1(256)}, 1000*256, 1000)
		// The same without races and with one or two at each access.
		const rounds = 1000
		for apart, name := range []string{"exchange clean", "exchange racing"} {
			bench(name, device.Launch{Grid: device.D1(4), Block: device.D1(256)}, 4*256*(3*rounds+1), rounds, apart)
		}
		require.NoError(b, d.Close())
	}
}

//go:embed testdata/bench_tensorcore.cu
var tensorCoreKernels string

// BenchmarkTensorCore: ns/warp is the processor time of one instruction of a warp; for
// group_products it is that of a sixteenth, which is as much work.
func BenchmarkTensorCore(b *testing.B) {
	const rounds, perRound, warps = 1000, 16, 4
	for _, mode := range benchModes {
		d, err := Start(Options{Checks: mode.checks, Unroll: mode.unroll, Workers: 1})
		require.NoError(b, err)
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: tensorCoreKernels})
		require.NoError(b, err)
		out, err := device.Alloc[float32](d, "out", 32*warps*perRound)
		require.NoError(b, err)
		for name, share := range map[string]int{"products": 1, "loads": 1, "group_products": 16} {
			k, err := m.Kernel(name)
			require.NoError(b, err)
			b.Run(name+"/"+mode.name, func(b *testing.B) {
				began := processorTime(b, d)
				for b.Loop() {
					require.NoError(b, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(32 * warps)}, out, rounds/share))
				}
				used := processorTime(b, d) - began
				b.ReportMetric(float64(used)/float64(b.N)/float64(rounds/share*perRound*warps*share), "ns/warp")
			})
		}
		require.NoError(b, d.Close())
	}
}
