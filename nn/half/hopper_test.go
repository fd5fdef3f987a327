package half

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// hopper is a rig whose device runs hopper.cu.
func hopper(t *testing.T) *rig {
	t.Helper()
	r := start(t)
	if !r.hopper {
		t.Skip("this GPU is no Hopper")
	}
	return r
}

// TestTiles: which kernel multiplies, on an H200's 132 processors. These are the products of Llama 3.1 8B for 512 and
// 2048 tokens.
func TestTiles(t *testing.T) {
	for _, c := range []struct {
		tiles       []hopperTile
		rows, width int
		want        string
	}{
		{plainTiles, 512, 6144, "product_128_192"}, {plainTiles, 512, 4096, "product_128_128"}, {gatedTiles, 512, 14336, "gated_128_128"},
		{plainTiles, 2048, 6144, "product_256_128"}, {plainTiles, 2048, 4096, "product_256_128"}, {gatedTiles, 2048, 14336, "gated_256_128"},
	} {
		assert.Equal(t, c.want, fastest(c.tiles, c.rows, c.width, 132).kernel, "%d rows, %d columns", c.rows, c.width)
	}
}

// shapes are at tiles' edges and elsewhere. With few processors a block has several tiles.
var shapes = []struct{ rows, in, width, processors int }{
	{1, 72, 16, 4}, {2, 1000, 136, 4}, {17, 128, 40, 1}, {65, 8, 8, 4}, {1000, 64, 24, 4}, {113, 200, 264, 1}, {128, 64, 192, 4}, {129, 72, 136, 2}, {257, 136, 72, 1}, {300, 456, 200, 3},
}

// TestHopper runs every kernel on every shape.
func TestHopper(t *testing.T) {
	r := hopper(t)
	for _, s := range shapes {
		r.processors = s.processors
		x, w := r.random(s.rows*s.in), r.random(s.width*s.in)
		truth := productTruth(x, w, s.rows, s.in, s.width, tensor.Float16)
		onX, onW := r.on("x", x), r.on("w", w)
		for _, tile := range plainTiles {
			out := r.out(s.rows * s.width)
			require.NoError(t, r.hoppers([]hopperTile{tile}, out, onX, onW, s.rows, s.in, s.width))
			r.near(fmt.Sprintf("%s of %+v", tile.kernel, s), r.read(out), truth)
		}
	}
}

// gatedTruth is silu(gate) · up, relative to the size of all of them: of one row a single number may be nearly all.
func gatedTruth(x, w []float32, rows, in, width int) judge.Truth {
	both := productTruth(x, w, rows, in, 2*width, tensor.Float16)
	var want []float64
	for i := range rows * width {
		at := i/width*2*width + i%width
		want = append(want, both.Want[at]/(1+exp(-both.Want[at]))*both.Want[at+width])
	}
	return truth(rows*width, want, gated[float32](both.Plain, width))
}

// TestGated runs the gated kernels, and the two others where these do not serve.
func TestGated(t *testing.T) {
	r := start(t)
	if r.hopper {
		for _, s := range shapes {
			r.processors = s.processors
			x, w := r.random(s.rows*s.in), r.random(2*s.width*s.in)
			for i := range x { // gates where silu is curved
				x[i] = max(-4, min(4, x[i]))
			}
			for i := range w {
				w[i] = max(-4, min(4, w[i])) / float32(math.Sqrt(float64(s.in)))
			}
			tensor.Float16.Round(w)
			truth := gatedTruth(x, w, s.rows, s.in, s.width)
			onX, onW := r.on("x", x), r.on("w", w)
			for _, tile := range gatedTiles {
				out := r.out(s.rows * s.width)
				require.NoError(t, r.hoppers([]hopperTile{tile}, out, onX, onW, s.rows, s.in, s.width))
				r.near(fmt.Sprintf("%s of %+v", tile.kernel, s), r.read(out), truth)
			}
		}
	}
	r.hopper = false
	for _, rows := range []int{1, 2, 17, 113} {
		const in, width = 72, 136
		x, w := r.on("x", r.random(rows*in)), r.on("w", r.random(2*width*in))
		out, want, both := r.out(rows*width), r.out(rows*width), r.out(rows*2*width)
		require.NoError(t, r.Gated(out, both, x, w, rows, in, width))
		require.NoError(t, r.Linear(both, x, w, rows, in, 2*width))
		require.NoError(t, r.SwiGLU(want, both, rows, width))
		assert.Equal(t, r.read(want), r.read(out), "%d rows", rows)
	}
	eight, four := r.on("eight", r.random(8)), r.on("four", r.random(4))
	assert.ErrorContains(t, r.Gated(eight, eight, eight, eight, 1, 8, 8), `w (the buffer "eight") holds 8 elements, want 128`)
	assert.ErrorContains(t, r.Gated(four, eight, eight, r.on("w", r.random(64)), 1, 8, 4), "a width of 4: want a multiple of 8")
	assert.ErrorContains(t, r.Gated(eight, eight, eight, eight, 0, 8, 8), "at least 1")
}

// TestGatesOfAllSizes: a gate closes at 0 and opens to all of up, without an infinity or a NaN on its way.
func TestGatesOfAllSizes(t *testing.T) {
	r := hopper(t)
	gates := []float32{-60000, -100, -88, -20, -1, 20, 100, 60000}
	const rows, in = 70, 8
	width := len(gates)
	x, w := make([]float32, rows*in), make([]float32, 2*width*in)
	for i := range rows {
		x[i*in] = 1
	}
	for o, gate := range gates {
		w[o*in], w[(width+o)*in] = gate, 0.5
	}
	out := r.out(rows * width)
	require.NoError(t, r.Gated(out, r.out(rows*2*width), r.on("x", x), r.on("w", w), rows, in, width))
	for i, y := range r.read(out) {
		gate := w[i%width*in]
		assert.InDelta(t, gated[float64]([]float32{gate, 0.5}, 1)[0], float64(y), math.Abs(float64(gate))/1024+1e-6, "gate %v", gate)
	}
}

// TestHopperKeepsNaN: what is no number stays in its row, and does not get lost.
func TestHopperKeepsNaN(t *testing.T) {
	r := hopper(t)
	const rows, in, width, bad = 130, 72, 72, 129
	x, w := r.random(rows*in), r.random(width*in)
	x[bad*in+71] = float32(math.NaN())
	out := r.out(rows * width)
	require.NoError(t, r.Linear(out, r.on("x", x), r.on("w", w), rows, in, width))
	for i, y := range r.read(out) {
		require.Equal(t, i/width == bad, y != y, "row %d", i/width)
	}
}

// TestHopperInGraph: the maps of a recorded launch are those of its buffers, whenever it runs.
func TestHopperInGraph(t *testing.T) {
	r := hopper(t)
	const rows, in, width = 70, 72, 72
	x, w := r.on("x", r.random(rows*in)), r.on("w", r.random(width*in))
	want, out := r.out(rows*width), r.out(rows*width)
	require.NoError(t, r.Linear(want, x, w, rows, in, width))
	graph, err := r.d.Record(func(device.Queue) error { return r.Linear(out, x, w, rows, in, width) })
	require.NoError(t, err)
	defer func() { assert.NoError(t, graph.Close()) }()
	for range 2 {
		require.NoError(t, r.d.Poison(out.Memory()))
		require.NoError(t, graph.Launch())
		assert.Equal(t, r.read(want), r.read(out))
	}
}
