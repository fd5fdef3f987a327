package nn

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// function is an elementwise one, in float64 and in plain float32.
type function struct {
	name  string
	run   func(l *Layers, out, a, b Floats) error
	exact func(a, b float64) float64
	plain func(a, b float32) float32
}

func gelu[T float](x T) T {
	return x / 2 * (1 + T(math.Tanh(float64(T(math.Sqrt(2/math.Pi))*(x+0.044715*x*x*x)))))
}

func swiglu[T float](gate, up T) T { return gate / (1 + T(math.Exp(float64(-gate)))) * up }

var functions = []function{
	{"gelu", func(l *Layers, out, a, _ Floats) error { return l.GELU(out, a) },
		func(a, _ float64) float64 { return gelu(a) }, func(a, _ float32) float32 { return gelu(a) }},
	{"swiglu", func(l *Layers, out, a, b Floats) error { return l.SwiGLU(out, a, b) }, swiglu[float64], swiglu[float32]},
	{"add", func(l *Layers, out, a, b Floats) error { return l.Add(out, a, b) },
		func(a, b float64) float64 { return a + b }, func(a, b float32) float32 { return a + b }},
}

func (f function) truth(a, b []float32) judge.Truth {
	want, plain := make([]float64, len(a)), make([]float32, len(a))
	for i := range a {
		want[i], plain[i] = f.exact(float64(a[i]), float64(b[i])), f.plain(a[i], b[i])
	}
	return rowsOf(len(a), want, plain)
}

func TestElementwise(t *testing.T) {
	d := start(t)
	for _, f := range functions {
		for _, n := range []int{1, 2, 17, 113, 1000, 1024, 5001} {
			a, b := normal(t, n), normal(t, n)
			A, B := on(t, d, "a", a), on(t, d, "b", b)
			truth := f.truth(a, b)
			out := output[float32](t, d, "out", n)
			require.NoError(t, f.run(d.Layers, out, A, B))
			near(t, fmt.Sprintf("%s of %d", f.name, n), read(t, d, out), truth)
			require.Equal(t, a, read(t, d, A), "an input was changed")

			require.NoError(t, f.run(d.Layers, A, A, B))
			near(t, fmt.Sprintf("%s of %d in place", f.name, n), read(t, d, A), truth)
		}
	}
}

// Slices may start where no 16-byte load can.
func TestElementwiseOfSlices(t *testing.T) {
	d := start(t)
	for _, f := range functions {
		a, b := normal(t, 41), normal(t, 40)
		A, err := on(t, d, "a", a).Slice(1, 41)
		require.NoError(t, err)
		out := output[float32](t, d, "out", 40)
		require.NoError(t, f.run(d.Layers, out, A, on(t, d, "b", b)))
		near(t, f.name, read(t, d, out), f.truth(a[1:], b))
	}
}

// Far from 0, where exp overflows, the functions are straight lines.
func TestElementwiseLimits(t *testing.T) {
	d := start(t)
	nan := float32(math.NaN())
	x := on(t, d, "x", []float32{-200, -1e6, 200, 1e6, 0, nan})
	two := on(t, d, "two", []float32{2, 2, 2, 2, 2, 2})
	out := output[float32](t, d, "out", 6)
	require.NoError(t, d.GELU(out, x))
	got := read(t, d, out)
	assert.Equal(t, []float32{0, 0, 200, 1e6, 0}, got[:5])
	assert.True(t, got[5] != got[5])
	require.NoError(t, d.SwiGLU(out, x, two))
	got = read(t, d, out)
	assert.Equal(t, []float32{0, 0, 400, 2e6, 0}, got[:5])
	assert.True(t, got[5] != got[5])
}

// Fill makes tensor.Fill's bits.
func TestFill(t *testing.T) {
	d := start(t)
	for _, dist := range tensor.Dists {
		for _, c := range []struct {
			n      int
			seed   uint64
			stream uint32
			scale  float32
		}{{1, 0, 0, 1}, {1000, 7, 3, 0.02}, {70001, 1<<63 | 12345, math.MaxUint32, 1.0 / 3}} {
			want := make([]float32, c.n)
			require.NoError(t, tensor.Fill(want, dist, c.seed, c.stream, 0))
			for i := range want {
				want[i] *= c.scale
			}
			out := output[float32](t, d, "out", c.n)
			require.NoError(t, d.Fill(out, dist, c.seed, c.stream, c.scale))
			require.Equal(t, want, read(t, d, out), "%s, %+v", dist, c)
		}
	}
}

// FillAs makes tensor.FillAs's bits.
func TestFillAs(t *testing.T) {
	d := start(t)
	for _, ty := range tensor.Types {
		for _, dist := range tensor.Dists {
			want := make([]float32, 1002)
			require.NoError(t, tensor.FillAs(ty, want, dist, 7, 3, 0))
			out := output[uint8](t, d, "out", ty.Bytes(len(want)))
			require.NoError(t, d.FillAs(ty, out.Memory(), dist, 7, 3))
			require.Equal(t, ty.Encode(want), read(t, d, out), "%v, %s", ty, dist)
		}
	}
	odd := output[uint8](t, d, "odd", 3)
	assert.ErrorContains(t, d.FillAs(tensor.Float16, odd.Memory(), tensor.Normal, 1, 1), "whole numbers")
	assert.ErrorContains(t, d.FillAs("float8", odd.Memory(), tensor.Normal, 1, 1), "unknown type")
}
