package half

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// productTruth is x·wᵀ; a row's scale is that of its terms, for these may cancel.
func productTruth(x, w []float32, rows, in, width int, ty tensor.Type) judge.Truth {
	want, plain, scale := make([]float64, rows*width), make([]float32, rows*width), make([]float64, rows)
	for row := range rows {
		squares := 0.0
		for o := range width {
			at := row*width + o
			for i := range in {
				term := float64(x[row*in+i]) * float64(w[o*in+i])
				want[at] += term
				plain[at] += x[row*in+i] * w[o*in+i]
				squares += term * term
			}
			squares += want[at] * want[at]
		}
		scale[row] = math.Sqrt(squares / float64(width))
	}
	t := truth(width, want, plain)
	t.Scale, t.Type = scale, ty
	return t
}

func TestLinear(t *testing.T) {
	r := start(t)
	for _, s := range []struct{ rows, in, width, processors int }{
		{1, 8, 1, 4}, {1, 1000, 17, 4}, {2, 64, 113, 4}, {3, 136, 1, 4}, {8, 1032, 33, 4}, {9, 2056, 40, 4}, {16, 112, 300, 1}, {7, 520, 270, 1},
		{17, 8, 17, 4}, {33, 200, 66, 4}, {64, 72, 129, 4}, {130, 64, 131, 1}, {257, 136, 16, 1}, {300, 1000, 33, 4},
	} {
		name := fmt.Sprintf("%dx%dx%d", s.rows, s.in, s.width)
		r.processors = s.processors
		x, w := r.random(s.rows*s.in), r.random(s.width*s.in)
		out := r.out(s.rows * s.width)
		require.NoError(t, r.Linear(out, r.on("x", x), r.on("w", w), s.rows, s.in, s.width))
		r.near(name, r.read(out), productTruth(x, w, s.rows, s.in, s.width, tensor.Float16))
	}
}

func TestLogits(t *testing.T) {
	r := start(t)
	for _, s := range []struct{ rows, in, width int }{{1, 64, 100}, {5, 1000, 33}, {16, 136, 65}, {19, 72, 40}} {
		x, w := r.random(s.rows*s.in), r.random(s.width*s.in)
		out := room[float32](r, "logits", s.rows*s.width)
		require.NoError(t, r.Logits(out, r.on("x", x), r.on("w", w), s.rows, s.in, s.width))
		r.near(fmt.Sprint(s), fetch(r, out), productTruth(x, w, s.rows, s.in, s.width, tensor.Float32))
	}
}

// norms are x / √(mean of x² + eps) · gain.
func norms[T number](x, gain []float32, width int, eps T) []T {
	y := make([]T, len(x))
	for row := 0; row < len(x); row += width {
		var squares T
		for _, v := range x[row : row+width] {
			squares += T(v) * T(v)
		}
		scale := 1 / T(math.Sqrt(float64(squares/T(width)+eps)))
		for i, v := range x[row : row+width] {
			y[row+i] = T(v) * scale * T(gain[i])
		}
	}
	return y
}

func TestNorms(t *testing.T) {
	r := start(t)
	const eps = 1e-5
	for _, s := range []struct{ rows, width int }{{1, 8}, {2, 40}, {17, 1000}, {3, 4096}, {2, 4104}, {1, 16384}} {
		name := fmt.Sprintf("%dx%d", s.rows, s.width)
		x, gain := r.random(s.rows*s.width), r.random(s.width)
		for i := range s.width { // a row whose squares are as small as eps
			x[i] /= 2048
		}
		tensor.Float16.Round(x)
		out, gains := r.out(s.rows*s.width), r.on("gain", gain)
		require.NoError(t, r.RMSNorm(out, r.on("x", x), gains, s.rows, s.width, eps))
		r.near(name, r.read(out), truth(s.width, norms[float64](x, gain, s.width, eps), norms[float32](x, gain, s.width, eps)))

		added, sum := r.random(s.rows*s.width), make([]float32, len(x))
		for i := range sum {
			sum[i] = x[i] + added[i]
		}
		tensor.Float16.Round(sum)
		kept := r.on("x", x)
		require.NoError(t, r.AddNorm(out, kept, r.on("added", added), gains, s.rows, s.width, eps))
		assert.Equal(t, sum, r.read(kept), "%s: the sum is kept", name)
		r.near("added "+name, r.read(out), truth(s.width, norms[float64](sum, gain, s.width, eps), norms[float32](sum, gain, s.width, eps)))
	}
}

func gated[T number](both []float32, width int) []T {
	var y []T
	for row := 0; row < len(both); row += 2 * width {
		for i := range width {
			gate, up := T(both[row+i]), T(both[row+width+i])
			y = append(y, gate/(1+exp(-gate))*up)
		}
	}
	return y
}

func TestRows(t *testing.T) {
	r := start(t)
	for _, s := range []struct{ batch, count, heads, dim int }{{1, 1, 1, 8}, {2, 17, 3, 16}, {3, 5, 7, 64}, {1, 113, 2, 40}} {
		rows, width := s.batch*s.count, s.heads*s.dim
		x := r.random(rows * width)
		in := r.on("x", x)

		if width%16 == 0 {
			out := r.out(rows * width / 2)
			require.NoError(t, r.SwiGLU(out, in, rows, width/2))
			r.near("SwiGLU", r.read(out), truth(width/2, gated[float64](x, width/2), gated[float32](x, width/2)))
		}

		last := r.out(s.batch * width)
		require.NoError(t, r.LastRows(last, in, s.batch, s.count, width))
		var want []float32
		for b := range s.batch {
			want = append(want, x[((b+1)*s.count-1)*width:(b+1)*s.count*width]...)
		}
		assert.Equal(t, want, r.read(last))

		merged := r.out(rows * width) // x as [batch, heads, count, dim]
		require.NoError(t, r.MergeHeads(merged, in, s.batch, s.count, s.heads, s.dim))
		want = make([]float32, rows*width)
		for i, v := range x {
			at, d := i/s.dim, i%s.dim
			token, head, b := at%s.count, at/s.count%s.heads, at/s.count/s.heads
			want[((b*s.count+token)*s.heads+head)*s.dim+d] = v
		}
		assert.Equal(t, want, r.read(merged))

		tokens := make([]int32, 9)
		for i := range tokens {
			tokens[i] = int32(i*5) % int32(rows)
		}
		tokens[3], tokens[7] = -1, int32(rows)
		embedded := r.out(len(tokens) * width)
		require.NoError(t, r.Embed(embedded, put(r, "tokens", tokens), in, len(tokens), width))
		for i, got := range r.read(embedded) {
			if token := int(tokens[i/width]); token < 0 || token >= rows {
				assert.True(t, got != got, "a token that there is not")
			} else {
				require.Equal(t, x[token*width+i%width], got)
			}
		}
	}
}

// A call that is refused says what is wrong, and launches nothing.
func TestRefused(t *testing.T) {
	r := start(t)
	x := r.on("x", r.random(64))
	assert.ErrorContains(t, r.Linear(x, x, x, 1, 12, 5), "multiple of 8")
	assert.ErrorContains(t, r.Linear(x, x, x, 1, 64, 2), `w (the buffer "x") holds 64 elements, want 128`)
	odd, err := x.Slice(1, 17)
	require.NoError(t, err)
	even, err := x.Slice(0, 16)
	require.NoError(t, err)
	assert.ErrorContains(t, r.RMSNorm(even, odd, even, 1, 16, 1e-5), "multiple of 16 bytes")
	assert.ErrorContains(t, r.SwiGLU(x, x, 0, 8), "at least 1")
	assert.ErrorContains(t, r.RMSNorm(x, x, x, 1, 1<<20, 1e-5), "at most 16384")
	assert.ErrorContains(t, r.Rotate(x, x, x, x, Positions{Batch: 1, Count: 1}, Heads{3, 2, 16}), "cannot share")
}
