package nn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// linearTruth is x·wᵀ + bias. The bias is one more term, with a factor of 1.
func linearTruth(x, w, bias []float32, rows, in, width int) judge.Truth {
	truth := shared.GemmTruth(x, w, attn.GemmShape{Batch: 1, M: rows, N: width, K: in, TransB: true})
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
	ofHopper := map[int]bool{17: true, 130: true, 300: true} // in each kernel of hopper.cu, and with more tiles than blocks
	for _, s := range []struct{ rows, in, width int }{
		{1, 1, 1}, {1, 1000, 17}, {2, 17, 113}, {3, 113, 2}, {4, 64, 96}, {5, 2, 1000}, {8, 1028, 33}, {9, 113, 17}, {16, 32, 40},
		{17, 17, 17}, {113, 33, 65}, {64, 64, 128}, {130, 100, 129}, {300, 16, 31}, {1000, 1, 2}, {18, 1000, 1}, {40, 500, 70},
	} {
		for _, way := range ways {
			for _, biased := range []bool{false, true} {
				if way.hopper && (!biased || !ofHopper[s.rows]) {
					continue // a tile of 128 x 128 takes seconds in the simulator
				}
				name := fmt.Sprintf("%dx%dx%d %s, bias %v", s.rows, s.in, s.width, way.name, biased)
				l := way.of(b)
				x, w := normal(t, s.rows*s.in), normal(t, s.width*s.in)
				var bias []float32
				var biasF Floats
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

// ways are those in which a shape can be shared out: on one processor, or on so many
// that no shape fills them; on tensor cores, or not; on those that Hopper's own instructions use.
var ways = []way{{"on 1", 1, worthwhile, false}, {"on 1000", 1000, worthwhile, false}, {"on tensor cores of 1", 1, 1, false},
	{"on tensor cores of 1000", 1000, 1, false}, {"on Hopper's of 3", 3, 1, true}, {"on Hopper's of 40", 40, 1, true}}

type way struct {
	name                   string
	processors, worthwhile int
	hopper                 bool
}

func (w way) of(b bench) *Layers {
	l := *b.Layers
	l.processors, l.worthwhile = w.processors, w.worthwhile
	if !w.hopper {
		l.hopper = nil
	}
	return &l
}

// Slices may start anywhere, also where nothing of 16 bytes can; and what lies
// around them stays as it is.
func TestLinearOfSlices(t *testing.T) {
	b := start(t)
	for i, rows := range []int{3, 20, 21} {
		const in, width = 64, 24
		slice := func(name string, values []float32) Floats {
			s, err := on(t, b, name, values).Slice(1, len(values)-1)
			require.NoError(t, err)
			return s
		}
		x, w := normal(t, rows*in+2), normal(t, width*in+2)
		whole := on(t, b, "out", normal(t, rows*width+2))
		before := read(t, b, whole)
		out, err := whole.Slice(1, rows*width+1)
		require.NoError(t, err)
		require.NoError(t, ways[i].of(b).Linear(out, slice("x", x), slice("w", w), Floats{}, rows, in, width))
		after := read(t, b, whole)
		near(t, fmt.Sprint(rows, " rows"), after[1:len(after)-1], linearTruth(x[1:len(x)-1], w[1:len(w)-1], nil, rows, in, width))
		require.Equal(t, []float32{before[0], before[len(before)-1]}, []float32{after[0], after[len(after)-1]})
	}
}

// Several layers of one input, and what else is done to a result.
func TestLinearsAndWhatFollows(t *testing.T) {
	b := start(t)
	for _, s := range []struct{ rows, in, width int }{{2, 40, 33}, {21, 36, 66}} {
		for _, way := range ways {
			l := way.of(b)
			x := normal(t, s.rows*s.in)
			xF := on(t, b, "x", x)
			for parts := 1; parts <= mostParts; parts++ {
				var p []Part
				var truths []judge.Truth
				for range parts {
					w, bias := normal(t, s.width*s.in), normal(t, s.width)
					p = append(p, Part{output[float32](t, b, "out", s.rows*s.width), on(t, b, "w", w), on(t, b, "bias", bias)})
					truths = append(truths, linearTruth(x, w, bias, s.rows, s.in, s.width))
				}
				require.NoError(t, l.Linears(xF, s.rows, s.in, s.width, p...))
				for i := range p {
					near(t, fmt.Sprintf("part %d of %d %s", i, parts, way.name), read(t, b, p[i].Out), truths[i])
				}
				if parts > 1 {
					continue
				}
				truth := truths[0]
				before := normal(t, s.rows*s.width)
				out := on(t, b, "out", before)
				require.NoError(t, l.LinearAdd(out, xF, p[0].W, p[0].Bias, s.rows, s.in, s.width))
				added := truth
				added.Want, added.Plain = slices.Clone(truth.Want), slices.Clone(truth.Plain)
				for i, v := range before {
					added.Want[i] += float64(v)
					added.Plain[i] += v
				}
				near(t, "added "+way.name, read(t, b, out), added)

				require.NoError(t, l.LinearGELU(out, xF, p[0].W, p[0].Bias, s.rows, s.in, s.width))
				for i := range truth.Want {
					truth.Want[i], truth.Plain[i] = gelu(truth.Want[i]), gelu(truth.Plain[i])
				}
				near(t, "GELU "+way.name, read(t, b, out), truth)
			}
		}
	}
}

func TestLinearSwiGLU(t *testing.T) {
	b := start(t)
	for _, s := range []struct{ rows, in, width int }{{1, 7, 5}, {2, 40, 33}, {4, 1100, 6}, {9, 36, 17}, {20, 36, 17}} {
		x, gate, up := normal(t, s.rows*s.in), normal(t, s.width*s.in), normal(t, s.width*s.in)
		out, spare := output[float32](t, b, "out", s.rows*s.width), output[float32](t, b, "spare", s.rows*s.width)
		require.NoError(t, b.LinearSwiGLU(out, spare, on(t, b, "x", x), on(t, b, "gate", gate), on(t, b, "up", up), s.rows, s.in, s.width))
		truth, other := linearTruth(x, gate, nil, s.rows, s.in, s.width), linearTruth(x, up, nil, s.rows, s.in, s.width)
		for i := range truth.Want {
			truth.Want[i] = swiglu(truth.Want[i], other.Want[i])
			truth.Plain[i] = swiglu(truth.Plain[i], other.Plain[i])
		}
		for i := range truth.Scale {
			truth.Scale[i] *= other.Scale[i]
		}
		near(t, fmt.Sprint("SwiGLU ", s), read(t, b, out), truth)
	}
}

// On tensor cores, lines have scales of their own: lines of any size give results as
// exact as others, and so do numbers of different size within one.
func TestLinearOfAllSizes(t *testing.T) {
	b := start(t)
	const rows, in, width = 40, 70, 33
	x, w := normal(t, rows*in), normal(t, width*in)
	for i := range x {
		row, k := i/in, i%in
		x[i] *= float32(math.Ldexp(1, 3*(row-rows/2)-k%12))
	}
	for i := range w {
		w[i] *= float32(math.Ldexp(1, 2*(i/in)-40))
	}
	out := output[float32](t, b, "out", rows*width)
	require.NoError(t, ways[2].of(b).Linear(out, on(t, b, "x", x), on(t, b, "w", w), Floats{}, rows, in, width))
	truth := linearTruth(x, w, nil, rows, in, width)
	got := read(t, b, out)
	for column := range width { // each column has its own magnitude, so it is judged separately
		part := judge.Truth{Layout: judge.Layout{Outer: rows, Len: 1, Inner: 1}}
		var values []float32
		for row := range rows {
			at := row*width + column
			size := math.Ldexp(1, 2*column-40+3*(row-rows/2)) * math.Sqrt(in) / 12
			part.Want, part.Plain = append(part.Want, truth.Want[at]), append(part.Plain, truth.Plain[at])
			part.Scale, values = append(part.Scale, size), append(values, got[at])
		}
		near(t, fmt.Sprint("column ", column), values, part)
	}
}

// What is infinite or no number stays so, and in its own row.
func TestLinearKeepsNaN(t *testing.T) {
	b := start(t)
	for _, way := range ways {
		for _, rows := range []int{3, 20} {
			keepsNaN(t, b, way.of(b), rows)
		}
	}
}

func keepsNaN(t *testing.T, b bench, l *Layers, rows int) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
		x, w := normal(t, rows*5), normal(t, 7*5)
		x[2*5+1] = bad
		out := output[float32](t, b, "out", rows*7)
		require.NoError(t, l.Linear(out, on(t, b, "x", x), on(t, b, "w", w), Floats{}, rows, 5, 7))
		for i, v := range read(t, b, out) {
			require.Equal(t, i/7 == 2, v-v != 0, "row %d", i/7)
		}
	}
}
