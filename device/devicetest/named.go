package devicetest

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

var (
	//go:embed named.cu
	namedKernels string
	//go:embed named.cuh
	namedHeader string
)

func namedSource() device.Source {
	return device.Source{Name: "named.cu", Text: namedKernels, Files: map[string]string{"named.cuh": namedHeader}, Kernels: []string{
		"scale<float, 3>", "scale<int, -2>", "scale<float, 4>", "namelessToo<true>", "namelessToo<false>", "ofTheHeader<double>",
		"layers::fold<layers::Add, int, float>", "layers::fold<layers::Times, double>", "mixed<unsigned short>", "count", "bump",
	}}
}

// namedKernelsRun: templates, overloads and kernels in namespaces are found, and are the ones that were meant.
func namedKernelsRun(t *testing.T, b bench) {
	m, err := b.Compile(namedSource())
	require.NoError(t, err)
	b.module = m
	one := device.Launch{Grid: device.D1(1), Block: device.D1(1)}
	t.Run("types and numbers", func(t *testing.T) {
		l := device.Launch{Grid: device.D1(1), Block: device.D1(4), Shared: 16}
		in, out := upload(t, b, "in", []float32{1, 2, 3, 4}), alloc[float32](t, b, "out", 4)
		b.launch(t, "scale<float, 3>", l, in, out)
		assert.Equal(t, []float32{12, 9, 6, 3}, download(t, b, out))
		b.launch(t, "scale<float, 4>", l, in, out)
		assert.Equal(t, []float32{16, 12, 8, 4}, download(t, b, out))
		ints, whole := upload(t, b, "ints", []int32{1, 2, 3, 4}), alloc[int32](t, b, "whole", 4)
		b.launch(t, "scale<int, -2>", l, ints, whole)
		assert.Equal(t, []int32{-8, -6, -4, -2}, download(t, b, whole))
		b.launch(t, "count", one, whole)
		assert.Equal(t, int32(4), download(t, b, whole)[0], "all of them have the same variables")
	})
	t.Run("by parameters", func(t *testing.T) {
		out := alloc[float32](t, b, "out", 1)
		for name, c := range map[string]struct {
			arg  any
			want float32
		}{"int n": {7, 7}, "float x": {float32(4), 8}} {
			b.launch(t, "which(float * out , "+name+")", one, out, c.arg)
			assert.Equal(t, []float32{c.want}, download(t, b, out), name)
		}
	})
	t.Run("numbers", func(t *testing.T) {
		out := upload(t, b, "out", []int32{0})
		for _, c := range []struct {
			name string
			want int32
		}{{"hidden", 3}, {"nameless", 4}, {"namelessToo<true>", 10}, {"namelessToo<false>", 5}, {"bump", 6}} {
			b.launch(t, c.name, one, out)
			assert.Equal(t, []int32{c.want}, download(t, b, out), c.name)
		}
		wide := alloc[float64](t, b, "wide", 1)
		b.launch(t, "ofTheHeader<double>", one, wide)
		assert.Equal(t, []float64{8}, download(t, b, wide))
	})
	t.Run("packs", func(t *testing.T) {
		out := upload(t, b, "out", []float32{1})
		b.launch(t, "layers::fold<layers::Add, int, float>", one, out, 2, float32(0.5))
		b.launch(t, "layers::fold<layers::Times, double>", one, out, 4.0)
		assert.Equal(t, []float32{14}, download(t, b, out))
	})
	t.Run("parameters", func(t *testing.T) { passesMixed(t, b) })
	t.Run("attributes", func(t *testing.T) {
		a, err := b.Attributes(b.kernel(t, "scale<float, 3>"))
		require.NoError(t, err)
		if b.Info().Kind == device.CUDA { // the simulator knows of no registers
			assert.Equal(t, 64, a.MaxThreads, "its launch bounds")
		}
	})
}

// passesMixed: the compiler tells what the text does not.
func passesMixed(t *testing.T, b bench) {
	type line struct {
		From  int16
		Slope float32
	}
	one := device.Launch{Grid: device.D1(1), Block: device.D1(1)}
	out := alloc[float32](t, b, "out", 5)
	k := b.kernel(t, "mixed<unsigned short>")
	b.launch(t, "mixed<unsigned short>", one, out, line{-7, 0.5}, 4, 1.5, 60000, device.Null)
	assert.Equal(t, []float32{-6.5, 4, 1.5, 60000, 1}, download(t, b, out))
	for _, c := range []struct {
		says string
		args []any
	}{
		{"launch mixed<unsigned short>: argument 2 (Line line): got a float32 of 4 bytes, and the kernel's Line has 8", []any{out, float32(1), 4, 1.5, 1, device.Null}},
		{"argument 5 (T x): 70000 does not fit in 16 bits, unsigned", []any{out, line{}, 4, 1.5, 70000, device.Null}},
		{"argument 3 (Mode mode): got the float 2.5, want an integer", []any{out, line{}, 2.5, 1.5, 1, device.Null}},
		{"got 2 arguments, the kernel takes 6", []any{out, line{}}},
	} {
		err := b.Launch(k, one, c.args...)
		require.ErrorIs(t, err, device.ErrLaunch)
		assert.ErrorContains(t, err, c.says)
	}
}
