package devicetest

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

//go:embed ptx.cu
var ptxKernels string

//go:embed ptx_memory.cu
var ptxMemoryKernels string

// inlinePTX: every check of ptx.cu writes what an instruction gave beside what it should give.
func inlinePTX(t *testing.T, b bench) {
	m, err := b.Compile(device.Source{Name: "ptx.cu", Text: ptxKernels + ptxMemoryKernels})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(18, 1))
	numbers := func(n int, of func() uint32) device.Buffer[uint32] {
		data := make([]uint32, n)
		for i := range data {
			data[i] = of()
		}
		return upload(t, b, "numbers", data)
	}
	bits := func() uint32 { return r.Uint32() >> (r.Uint32() % 25) }
	floats := func() uint32 { return math.Float32bits((r.Float32()*2 - 1) * 8) }
	small := func() uint32 { return uint32(int32(r.IntN(8)) - 4) }
	stores := b.Info().Arch == "sim" || b.Info().Arch >= "sm_90"
	for _, kernel := range []struct {
		name   string
		checks int
		args   []any
	}{
		{"integers", 34, []any{numbers(32, r.Uint32), numbers(32, bits), numbers(32, bits)}},
		{"floats", 27, []any{numbers(32, floats), numbers(32, floats), numbers(32, floats)}},
		{"warp", 10, []any{numbers(32, func() uint32 { return r.Uint32() % 120 })}},
		{"memory", 8, []any{numbers(256, r.Uint32), upload(t, b, "sums", make([]uint32, 4))}},
		{"matrices", 0, []any{numbers(128, r.Uint32)}},
		{"products", 32, []any{numbers(16*32, small), numbers(32*8, small)}},
	} {
		t.Run(kernel.name, func(t *testing.T) {
			if kernel.name == "matrices" {
				kernel.checks = map[bool]int{true: 27, false: 11}[stores]
			}
			got, want := upload(t, b, "got", make([]uint32, 64*32)), upload(t, b, "want", make([]uint32, 64*32))
			args := append(kernel.args, got, want)
			if kernel.name == "matrices" {
				args = append(args, stores)
			}
			k, err := m.Kernel(kernel.name)
			require.NoError(t, err)
			require.NoError(t, b.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, args...))
			require.NoError(t, b.Sync())
			g, w := download(t, b, got), download(t, b, want)
			for i := range w {
				assert.Equalf(t, w[i], g[i], "check %d of %s, lane %d: %#x, want %#x", i/32, kernel.name, i%32, g[i], w[i])
			}
			assert.Equal(t, kernel.checks, int(w[63*32]), "checks that were made")
		})
	}
}
