package nn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
)

func layerNorm[T float](x, gain, bias []float32, eps float32) []T {
	var mean, variance T
	for _, v := range x {
		mean += T(v)
	}
	mean /= T(len(x))
	for _, v := range x {
		variance += (T(v) - mean) * (T(v) - mean)
	}
	scale := 1 / T(math.Sqrt(float64(variance/T(len(x))+T(eps))))
	out := make([]T, len(x))
	for i, v := range x {
		out[i] = (T(v)-mean)*scale*T(gain[i]) + T(bias[i])
	}
	return out
}

func TestLayerNorm(t *testing.T) {
	d := start(t)
	for _, s := range []struct{ rows, width int }{{1, 2}, {3, 17}, {17, 113}, {113, 32}, {2, 1000}, {5, 768}, {2, 4099}} {
		for _, offset := range []float32{0, 100} { // E[x²] − E[x]² would fail at the second
			x, gain, bias := normal(t, s.rows*s.width), normal(t, s.width), normal(t, s.width)
			var want []float64
			var plain []float32
			for row := range s.rows {
				part := x[row*s.width : (row+1)*s.width]
				for i := range part {
					part[i] += offset
				}
				want = append(want, layerNorm[float64](part, gain, bias, 1e-5)...)
				plain = append(plain, layerNorm[float32](part, gain, bias, 1e-5)...)
			}
			truth := rowsOf(s.width, want, plain)
			X, G, B := on(t, d, "x", x), on(t, d, "gain", gain), on(t, d, "bias", bias)
			out := output[float32](t, d, "out", len(x))
			require.NoError(t, d.LayerNorm(out, X, G, B, s.rows, s.width, 1e-5))
			near(t, fmt.Sprint("layer norm ", s, offset), read(t, d, out), truth)
			require.NoError(t, d.LayerNorm(X, X, G, B, s.rows, s.width, 1e-5))
			near(t, fmt.Sprint("in place ", s, offset), read(t, d, X), truth)

			// x as a sum of two, which are whole numbers: so that it is exact.
			var one, two []float32
			for i := range x {
				x[i] = float32(math.Round(float64(x[i])))
				one, two = append(one, float32(i%7)), append(two, x[i]-float32(i%7))
			}
			sum := on(t, d, "sum", one)
			require.NoError(t, d.AddNorm(out, sum, on(t, d, "added", two), G, B, s.rows, s.width, 1e-5))
			require.Equal(t, x, read(t, d, sum))
			truth.Want, truth.Plain = nil, nil
			for row := range s.rows {
				truth.Want = append(truth.Want, layerNorm[float64](x[row*s.width:(row+1)*s.width], gain, bias, 1e-5)...)
				truth.Plain = append(truth.Plain, layerNorm[float32](x[row*s.width:(row+1)*s.width], gain, bias, 1e-5)...)
			}
			near(t, fmt.Sprint("added ", s, offset), read(t, d, out), truth)
		}
	}
}

// rope turns x [batch, count, heads × dim], its angles in float64 or in float32.
func rope[T float](x []float32, before []int32, count, heads, dim int, base float64) []T {
	out := make([]T, len(x))
	for i := range out {
		j, token := i%dim, i/(heads*dim)
		position := T(int(before[token/count]) + token%count)
		angle := float64(position * T(math.Pow(base, -2*float64(j%(dim/2))/float64(dim))))
		sine, cosine := T(math.Sin(angle)), T(math.Cos(angle))
		if j < dim/2 {
			out[i] = T(x[i])*cosine - T(x[i+dim/2])*sine
		} else {
			out[i] = T(x[i])*cosine + T(x[i-dim/2])*sine
		}
	}
	return out
}

func TestRoPE(t *testing.T) {
	d := start(t)
	for _, s := range []struct {
		count, heads, dim int
		before            []int32
		base              float32
	}{
		{1, 1, 2, []int32{0}, 10000}, {1, 3, 64, []int32{7, 0, 999}, 10000}, {17, 5, 34, []int32{0, 3}, 10000},
		{3, 32, 128, []int32{4000}, 500000}, {2, 9, 256, []int32{1000}, 10000},
	} {
		x := normal(t, len(s.before)*s.count*s.heads*s.dim)
		X := on(t, d, "x", x)
		require.NoError(t, d.RoPE(X, on(t, d, "before", s.before), len(s.before), s.count, s.heads, s.dim, s.base))
		near(t, fmt.Sprintf("rope %+v", s), read(t, d, X), rowsOf(s.dim,
			rope[float64](x, s.before, s.count, s.heads, s.dim, float64(s.base)),
			rope[float32](x, s.before, s.count, s.heads, s.dim, float64(s.base))))

		q, k := on(t, d, "q", x), on(t, d, "k", x)
		require.NoError(t, d.RoPEs(q, k, on(t, d, "before", s.before), len(s.before), s.count, s.heads, s.dim, s.base))
		require.Equal(t, read(t, d, X), read(t, d, q))
		require.Equal(t, read(t, d, X), read(t, d, k))
	}
}

// Positions count in turns of the angle: far out, too, we are as near to the truth
// as at the start.
func TestRoPEFarOut(t *testing.T) {
	d := start(t)
	x, before := normal(t, 64), []int32{1 << 20}
	X := on(t, d, "x", x)
	require.NoError(t, d.RoPE(X, on(t, d, "before", before), 1, 1, 1, 64, 10000))
	want := rope[float64](x, before, 1, 1, 64, 10000)
	near(t, "rope", read(t, d, X), judge.Truth{Layout: judge.Layout{Outer: 1, Len: 64, Inner: 1}, Want: want, Plain: narrow(want)})
}

func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

func TestArgmax(t *testing.T) {
	d := start(t)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, width := range []int{1, 2, 17, 32, 113, 1000, 5000} {
		const rows = 7
		x := normal(t, rows*width)
		row := func(i int) []float32 { return x[i*width : (i+1)*width] }
		for i := range row(1) {
			row(1)[i] = -3 // ties everywhere
			row(4)[i] = -inf
		}
		row(2)[width-1], row(2)[width/2] = 50, 50
		row(3)[width-1], row(3)[0] = nan, inf
		row(5)[width/2] = inf
		row(6)[width-1] = 60
		want := []int32{int32(slices.Index(x[:width], slices.Max(x[:width]))), 0, int32(width / 2), -1, 0, int32(width / 2), int32(width - 1)}
		if width == 1 {
			want[3] = 0 // the NaN was overwritten
		}
		out := output[int32](t, d, "out", rows)
		require.NoError(t, d.Argmax(out, on(t, d, "x", x), rows, width))
		assert.Equal(t, want, read(t, d, out), "width %d", width)
	}
}

func TestEmbeddings(t *testing.T) {
	d := start(t)
	for _, s := range []struct{ batch, count, width int }{{1, 1, 1}, {2, 3, 17}, {3, 5, 1000}} {
		const vocabulary, longest = 11, 20
		table, positions := normal(t, vocabulary*s.width), normal(t, longest*s.width)
		before := []int32{0, 4, 15}[:s.batch]
		tokens := make([]int32, s.batch*s.count)
		for i := range tokens {
			tokens[i] = int32(i*7+3) % vocabulary
		}
		var plain, placed []float32
		for i, token := range tokens {
			at := int(before[i/s.count]) + i%s.count
			for x := range s.width {
				value := table[int(token)*s.width+x]
				plain, placed = append(plain, value), append(placed, value+positions[at*s.width+x])
			}
		}
		T, P := on(t, d, "table", table), on(t, d, "positions", positions)
		I, B := on(t, d, "tokens", tokens), on(t, d, "before", before)
		out := output[float32](t, d, "out", len(plain))
		require.NoError(t, d.Embed(out, I, T, len(tokens), s.width))
		assert.Equal(t, plain, read(t, d, out))
		require.NoError(t, d.EmbedPositions(out, I, T, P, B, s.batch, s.count, s.width))
		assert.Equal(t, placed, read(t, d, out))
	}
}

// A token or a position that is in no table gives NaN, not somebody else's memory.
func TestEmbeddingsOfNothing(t *testing.T) {
	d := start(t)
	table := on(t, d, "table", []float32{1, 2, 3})
	out := output[float32](t, d, "out", 4)
	tokens := on(t, d, "tokens", []int32{-1, 3, 1 << 30, 2})
	require.NoError(t, d.Embed(out, tokens, table, 4, 1))
	got := read(t, d, out)
	for i, v := range got[:3] {
		assert.True(t, v != v, "token %d", i)
	}
	assert.Equal(t, float32(3), got[3])
	fine := on(t, d, "tokens", []int32{0, 0, 0, 0})
	require.NoError(t, d.EmbedPositions(out, fine, table, table, on(t, d, "before", []int32{2, -1}), 2, 2, 1))
	got = read(t, d, out)
	assert.Equal(t, float32(4), got[0])
	assert.True(t, got[1] != got[1], "position 3 of 3")
	assert.True(t, got[2] != got[2], "position -1")
	assert.Equal(t, float32(2), got[3])
}

func TestRowsMoveAbout(t *testing.T) {
	d := start(t)
	for _, s := range []struct{ batch, count, heads, dim int }{{1, 1, 1, 1}, {2, 3, 5, 7}, {3, 17, 4, 64}, {1, 113, 2, 9}} {
		x := normal(t, s.batch*s.count*s.heads*s.dim)
		apart := make([]float32, len(x))
		var last []float32
		width := s.heads * s.dim
		for i, v := range x {
			e, h, n, b := i%s.dim, i/s.dim%s.heads, i/width%s.count, i/width/s.count
			apart[((b*s.heads+h)*s.count+n)*s.dim+e] = v
			if n == s.count-1 {
				last = append(last, v)
			}
		}
		X := on(t, d, "x", x)
		split, merged := output[float32](t, d, "split", len(x)), output[float32](t, d, "merged", len(x))
		require.NoError(t, d.SplitHeads(split, X, s.batch, s.count, s.heads, s.dim))
		assert.Equal(t, apart, read(t, d, split))
		require.NoError(t, d.MergeHeads(merged, split, s.batch, s.count, s.heads, s.dim))
		assert.Equal(t, x, read(t, d, merged))
		out := output[float32](t, d, "out", s.batch*width)
		require.NoError(t, d.LastRows(out, X, s.batch, s.count, width))
		assert.Equal(t, last, read(t, d, out))
	}
	counts := on(t, d, "counts", []int32{0, 5, -2})
	require.NoError(t, d.Advance(counts, 3))
	assert.Equal(t, []int32{3, 8, 1}, read(t, d, counts))
}

func TestATextGoesOn(t *testing.T) {
	d := start(t)
	for _, c := range []struct {
		before, after, by int
		want              []int32 // before, after, tokens
	}{
		{0, 2, 2, []int32{2, 3, 7, 1, 7, 3}},
		{2, 3, 1, []int32{3, 4, 7, 1, 2, 7}},
		{3, 4, 1, []int32{4, 5, 7, 1, 2, 3}}, // no position is left
		{0, -1, 1, []int32{1, 0, 7, 1, 2, 3}},
	} {
		all := on(t, d, "counts and tokens", []int32{int32(c.before), int32(c.after), 7, 1, 2, 3})
		part := func(from, to int) Ints {
			b, err := all.Slice(from, to)
			require.NoError(t, err)
			return b
		}
		require.NoError(t, d.GoOn(part(0, 1), part(1, 2), part(2, 6), c.by))
		assert.Equal(t, c.want, read(t, d, all))
	}
}
