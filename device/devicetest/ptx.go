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

//go:embed ptx_narrow.cu
var ptxNarrowKernels string

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
		if kernel.name == "matrices" {
			kernel.checks = map[bool]int{true: 27, false: 11}[stores]
		}
		beside(t, b, m, kernel.name, kernel.checks, kernel.args, map[string][]any{"matrices": {stores}}[kernel.name]...)
	}
	if stores || b.Info().Arch == "sm_89" {
		sizes := func() uint32 { return math.Float32bits(float32(math.Ldexp(r.Float64()*2-1, r.IntN(30)-12))) }
		narrow, err := b.Compile(device.Source{Name: "ptx_narrow.cu", Text: ptxNarrowKernels})
		require.NoError(t, err)
		beside(t, b, narrow, "narrow", 16, []any{numbers(32, r.Uint32), asFloats(t, b, sizes), asFloats(t, b, sizes)})
		beside(t, b, narrow, "signs", 1, nil)
	}
}

// asFloats is a buffer of 32 numbers, by their bits.
func asFloats(t *testing.T, b bench, of func() uint32) device.Buffer[float32] {
	data := make([]float32, 32)
	for i := range data {
		data[i] = math.Float32frombits(of())
	}
	return upload(t, b, "floats", data)
}

// beside runs a kernel of a warp, and compares what its instructions gave with what they should give.
func beside(t *testing.T, b bench, m device.Module, name string, checks int, args []any, last ...any) {
	t.Run(name, func(t *testing.T) {
		got, want := upload(t, b, "got", make([]uint32, 64*32)), upload(t, b, "want", make([]uint32, 64*32))
		k, err := m.Kernel(name)
		require.NoError(t, err)
		args = append(append(append([]any(nil), args...), got, want), last...)
		require.NoError(t, b.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, args...))
		require.NoError(t, b.Sync())
		g, w := download(t, b, got), download(t, b, want)
		for i := range w {
			assert.Equalf(t, w[i], g[i], "check %d of %s, lane %d: %#x, want %#x", i/32, name, i%32, g[i], w[i])
		}
		assert.Equal(t, checks, int(w[63*32]), "checks that were made")
	})
}
