package nn

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/grader/oracle"
)

// linearTruth is x·wᵀ + bias. The bias is one more term, with a factor of 1.
func linearTruth(x, w, bias []float32, rows, in, width int) oracle.Truth {
	truth := oracle.GemmTruth(x, w, attn.GemmShape{Batch: 1, M: rows, N: width, K: in, TransB: true})
	if bias == nil {
		return truth
	}
	for i := range truth.Want {
		b := bias[i%width]
		truth.Want[i] += float64(b)
		truth.Plain[i] += b
		scale := &truth.Scale[i/width]
		*scale = math.Hypot(*scale, float64(b)/math.Sqrt(float64(width)))
	}
	return truth
}

func TestLinear(t *testing.T) {
	b := start(t)
	for _, s := range []struct{ rows, in, width int }{
		{1, 1, 1}, {1, 1000, 17}, {2, 17, 113}, {3, 113, 2}, {4, 64, 96}, {5, 2, 1000}, {8, 1028, 33}, {9, 113, 17}, {16, 32, 40},
		{17, 17, 17}, {113, 33, 65}, {64, 64, 128}, {130, 100, 129}, {300, 16, 31}, {1000, 1, 2}, {18, 1000, 1},
	} {
		// One processor, or so many that no shape fills them: both of the ways
		// that a shape can be shared out.
		for _, processors := range []int{1, 1000} {
			for _, biased := range []bool{false, true} {
				name := fmt.Sprintf("%dx%dx%d on %d, bias %v", s.rows, s.in, s.width, processors, biased)
				l := *b.Layers
				l.processors = processors
				x, w := normal(t, s.rows*s.in), normal(t, s.width*s.in)
				var bias []float32
				var biasF F
				if biased {
					bias = normal(t, s.width)
					biasF = on(t, b, "bias", bias)
				}
				out := output[float32](t, b, "out", s.rows*s.width)
				require.NoError(t, l.Linear(out, on(t, b, "x", x), on(t, b, "w", w), biasF, s.rows, s.in, s.width))
				near(t, name, read(t, b, out), linearTruth(x, w, bias, s.rows, s.in, s.width))
			}
		}
	}
}

// Slices may start anywhere, also where nothing of 16 bytes can; and what lies
// around them stays as it is.
func TestLinearOfSlices(t *testing.T) {
	b := start(t)
	for _, rows := range []int{3, 20} {
		const in, width = 64, 24
		slice := func(name string, values []float32) F {
			s, err := on(t, b, name, values).Slice(1, len(values)-1)
			require.NoError(t, err)
			return s
		}
		x, w := normal(t, rows*in+2), normal(t, width*in+2)
		whole := on(t, b, "out", normal(t, rows*width+2))
		before := read(t, b, whole)
		out, err := whole.Slice(1, rows*width+1)
		require.NoError(t, err)
		require.NoError(t, b.Linear(out, slice("x", x), slice("w", w), F{}, rows, in, width))
		after := read(t, b, whole)
		near(t, fmt.Sprint(rows, " rows"), after[1:len(after)-1], linearTruth(x[1:len(x)-1], w[1:len(w)-1], nil, rows, in, width))
		require.Equal(t, []float32{before[0], before[len(before)-1]}, []float32{after[0], after[len(after)-1]})
	}
}

// What is infinite or no number stays so, and in its own row.
func TestLinearKeepsNaN(t *testing.T) {
	b := start(t)
	for _, rows := range []int{3, 20} {
		x, w := normal(t, rows*5), normal(t, 7*5)
		x[2*5+1] = float32(math.NaN())
		out := output[float32](t, b, "out", rows*7)
		require.NoError(t, b.Linear(out, on(t, b, "x", x), on(t, b, "w", w), F{}, rows, 5, 7))
		for i, v := range read(t, b, out) {
			require.Equal(t, i/7 == 2, v != v, "row %d", i/7)
		}
	}
}
