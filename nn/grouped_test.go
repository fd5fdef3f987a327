package nn

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func rmsNorm[T float](x, gain []float32, eps float32) []T {
	var squares T
	for _, v := range x {
		squares += T(v) * T(v)
	}
	scale := 1 / T(math.Sqrt(float64(squares/T(len(x))+T(eps))))
	out := make([]T, len(x))
	for i, v := range x {
		out[i] = T(v) * scale * T(gain[i])
	}
	return out
}

func TestRMSNorm(t *testing.T) {
	d := start(t)
	for _, s := range []struct{ rows, width int }{{1, 1}, {3, 17}, {17, 113}, {2, 576}, {5, 1000}, {2, 4099}} {
		x, gain := normal(t, s.rows*s.width), normal(t, s.width)
		var one, two []float32 // two whole numbers that add up to x: so that the sum is exact
		for i := range x {
			x[i] = float32(math.Round(float64(10 * x[i])))
			one, two = append(one, float32(i%7)), append(two, x[i]-float32(i%7))
		}
		truth := rowsOf(s.width, nil, nil)
		truth.Outer = s.rows
		for row := range s.rows {
			part := x[row*s.width : (row+1)*s.width]
			truth.Want = append(truth.Want, rmsNorm[float64](part, gain, 1e-5)...)
			truth.Plain = append(truth.Plain, rmsNorm[float32](part, gain, 1e-5)...)
		}
		X, G := on(t, d, "x", x), on(t, d, "gain", gain)
		out := output[float32](t, d, "out", len(x))
		require.NoError(t, d.RMSNorm(out, X, G, s.rows, s.width, 1e-5))
		near(t, fmt.Sprint("RMS norm ", s), read(t, d, out), truth)
		require.NoError(t, d.RMSNorm(X, X, G, s.rows, s.width, 1e-5))
		near(t, fmt.Sprint("in place ", s), read(t, d, X), truth)
		sum := on(t, d, "sum", one)
		require.NoError(t, d.AddRMSNorm(out, sum, on(t, d, "added", two), G, s.rows, s.width, 1e-5))
		require.Equal(t, x, read(t, d, sum))
		near(t, fmt.Sprint("added ", s), read(t, d, out), truth)
	}
}

// Queries and keys are turned as RoPE turns them, each with its own number of heads; frequencies may be any.
func TestRotate(t *testing.T) {
	d := start(t)
	for _, s := range []struct {
		count, heads, kvHeads, dim int
		before                     []int32
	}{
		{1, 1, 1, 2, []int32{0}}, {1, 9, 3, 64, []int32{7, 0, 999}}, {17, 5, 1, 34, []int32{0, 3}}, {3, 32, 8, 128, []int32{4000}}, {2, 8, 8, 6, []int32{1}},
	} {
		tokens := len(s.before) * s.count
		q, k := normal(t, tokens*s.heads*s.dim), normal(t, tokens*s.kvHeads*s.dim)
		var turns []float64
		for j := range s.dim / 2 {
			turns = append(turns, math.Pow(100000, -2*float64(j)/float64(s.dim))/(2*math.Pi))
		}
		Q, K := on(t, d, "q", q), on(t, d, "k", k)
		r := Rotation{Heads: s.heads, KVHeads: s.kvHeads, Dim: s.dim, Turns: on(t, d, "turns", turns)}
		require.NoError(t, d.Rotate(Q, K, on(t, d, "before", s.before), len(s.before), s.count, r))
		near(t, fmt.Sprintf("q %+v", s), read(t, d, Q), rowsOf(s.dim,
			rope[float64](q, s.before, s.count, s.heads, s.dim, 100000), rope[float32](q, s.before, s.count, s.heads, s.dim, 100000)))
		near(t, fmt.Sprintf("k %+v", s), read(t, d, K), rowsOf(s.dim,
			rope[float64](k, s.before, s.count, s.kvHeads, s.dim, 100000), rope[float32](k, s.before, s.count, s.kvHeads, s.dim, 100000)))
	}
}

func TestRepeatHeads(t *testing.T) {
	d := start(t)
	x := []float32{1, 2, 3, 4, 5, 6, 7, 8} // two rows of two heads of two
	dst := output[float32](t, d, "dst", 24)
	require.NoError(t, d.RepeatHeads(dst, on(t, d, "src", x), 2, 6, 2, 2))
	assert.Equal(t, []float32{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 5, 6, 5, 6, 5, 6, 7, 8, 7, 8, 7, 8}, read(t, d, dst))
}

// TestAlone: a thread by itself is as right as many are, whatever follows.
func TestAlone(t *testing.T) {
	d := start(t)
	l := d.Alone()
	for _, s := range []struct{ rows, in, width int }{{1, 576, 33}, {1, 1000, 17}, {3, 513, 5}, {19, 576, 12}} {
		x, w, up, bias := normal(t, s.rows*s.in), normal(t, s.width*s.in), normal(t, s.width*s.in), normal(t, s.width)
		X, W, U := on(t, d, "x", x), on(t, d, "w", w), on(t, d, "up", up)
		out, other := output[float32](t, d, "out", s.rows*s.width), output[float32](t, d, "other", s.rows*s.width)
		require.NoError(t, l.Linears(X, s.rows, s.in, s.width, Part{Out: out, W: W, Bias: on(t, d, "bias", bias)}, Part{Out: other, W: U, Bias: on(t, d, "bias", bias)}))
		near(t, fmt.Sprint(s), read(t, d, out), linearTruth(x, w, bias, s.rows, s.in, s.width))
		near(t, fmt.Sprint(s), read(t, d, other), linearTruth(x, up, bias, s.rows, s.in, s.width))

		for name, do := range map[string]func(l *Layers, out Floats) error{
			"SwiGLU": func(l *Layers, out Floats) error { return l.LinearSwiGLU(out, other, X, W, U, s.rows, s.in, s.width) },
			"added":  func(l *Layers, out Floats) error { return l.LinearAdd(out, X, W, Floats{}, s.rows, s.in, s.width) },
		} {
			mine, theirs := on(t, d, "mine", make([]float32, s.rows*s.width)), on(t, d, "theirs", make([]float32, s.rows*s.width))
			require.NoError(t, do(l, mine))
			require.NoError(t, do(d.Layers, theirs))
			assert.InDeltaSlice(t, read(t, d, theirs), read(t, d, mine), 1e-2, name)
		}
	}
	x := on(t, d, "x", make([]float32, 4))
	assert.ErrorContains(t, l.LinearGELU(on(t, d, "out", []float32{0}), x, x, Floats{}, 1, 4, 1), "GELU is not done by threads alone")
}
