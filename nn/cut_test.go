package nn

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Weights that were cut once give what cutting them at each call gives, to the last bit, until they are written to.
func TestCut(t *testing.T) {
	b := start(t)
	const rows, in, width = 20, 70, 33
	x, before, after := on(t, b, "x", normal(t, rows*in)), normal(t, 2*width*in), normal(t, 2*width*in)
	both, out := on(t, b, "w", before), []Floats{output[float32](t, b, "out", rows*width), output[float32](t, b, "out", rows*width)}
	w := make([]Floats, 2)
	for i := range w {
		var err error
		w[i], err = both.Slice(i*width*in, (i+1)*width*in)
		require.NoError(t, err)
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			l := way.of(b)
			run := func(l *Layers) (both [][]float32) {
				require.NoError(t, l.Linears(x, rows, in, width, Part{Out: out[0], W: w[0]}, Part{Out: out[1], W: w[1]}))
				return [][]float32{read(t, b, out[0]), read(t, b, out[1])}
			}
			require.NoError(t, both.CopyIn(b, before))
			c, err := l.Cut(in, width, w...)
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Free(b)) }()
			old := run(l)
			require.Equal(t, old, run(l.With(c)))
			if way.worthwhile > 1 {
				return // no halves are used
			}
			require.NoError(t, both.CopyIn(b, after))
			require.NotEqual(t, old, run(l))
			require.Equal(t, old, run(l.With(c)))
		})
	}
}

func TestCutIsOfItsWeights(t *testing.T) {
	b := start(t)
	const rows, in, width = 20, 8, 4
	x, out := on(t, b, "x", normal(t, rows*in)), output[float32](t, b, "out", rows*width)
	w, other := on(t, b, "w", normal(t, width*in)), on(t, b, "other", normal(t, width*in))
	c, err := b.Cut(in, width, w)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Free(b)) }()
	require.NoError(t, b.With(c).Linear(out, x, w, Floats{}, rows, in, width))
	require.ErrorContains(t, b.With(c).Linear(out, x, other, Floats{}, rows, in, width), "of other weights")
	_, err = b.Cut(in, width)
	require.ErrorContains(t, err, "0 of them together")
	_, err = b.Cut(in, width+1, w)
	require.ErrorContains(t, err, "want 40")
}

// How hopper.cu shares out the products of a prompt of 512 tokens, on an H200.
func TestShare(t *testing.T) {
	l := &Layers{processors: 132}
	for _, s := range []struct {
		rows, in, width, parts int
		want                   sharing
	}{
		{512, 768, 768, 3, sharing{96, 1}}, {512, 768, 768, 1, sharing{128, 4}}, {512, 768, 3072, 1, sharing{96, 1}}, {512, 3072, 768, 1, sharing{128, 4}},
		{512, 4096, 4096, 1, sharing{128, 1}}, {4096, 4096, 4096, 1, sharing{128, 1}}, {4096, 768, 768, 3, sharing{96, 1}}, {17, 20, 5, 1, sharing{96, 1}},
	} {
		require.Equal(t, s.want, l.share(job{rows: s.rows, in: s.in, width: s.width, parts: s.parts}), fmt.Sprint(s))
	}
}
