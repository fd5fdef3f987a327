package nn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every method refuses buffers of other sizes and dimensions of 0, and says which.
func TestSizesAreChecked(t *testing.T) {
	d := start(t)
	f := func(name string, n int) Floats { return output[float32](t, d, name, n) }
	i := func(name string, n int) Ints { return output[int32](t, d, name, n) }
	x6, x5, w, two := f("x", 6), f("five", 5), f("w", 12), f("two", 2)
	i2, i3 := i("i2", 2), i("i3", 3)
	for _, c := range []struct {
		want string
		err  error
	}{
		{`linear layer of x [2, 3] with w [4, 3]: out (the buffer "five") holds 5 elements, want 8`, d.Linear(x5, x6, w, Floats{}, 2, 3, 4)},
		{"bias", d.Linear(f("out", 8), x6, w, two, 2, 3, 4)},
		{"at least 1", d.Linear(Floats{}, Floats{}, Floats{}, Floats{}, 0, 3, 4)},
		{"at least 1", d.Linear(Floats{}, Floats{}, Floats{}, Floats{}, 1, 0, 4)},
		{"linear layer of x [2, 3] with w [4, 3]: out", d.LinearAdd(x5, x6, w, Floats{}, 2, 3, 4)},
		{"0 of them together, want 1 to 3", d.Linears(x6, 2, 3, 4)},
		{"all have a bias or none has", d.Linears(x6, 1, 6, 2, Part{two, w, two}, Part{two, w, Floats{}})},
		{"spare", d.LinearSwiGLU(f("out", 8), x5, x6, w, w, 2, 3, 4)},
		{"addition and layer norm of x [2, 3]: added", d.AddNorm(x6, x6, x5, two, two, 2, 3, 1e-5)},
		{"layer norm of x [2, 3]: gain", d.LayerNorm(x6, x6, two, two, 2, 3, 1e-5)},
		{"at least 1", d.LayerNorm(x6, x6, two, two, -1, 3, 1e-5)},
		{`before (the buffer "i3") holds 3 elements, want 1`, d.RoPE(x6, i3, 1, 1, 3, 2, 10000)},
		{"must be even", d.RoPE(x6, i2, 2, 1, 1, 3, 10000)},
		{"the base is 0", d.RoPE(x6, i3, 3, 1, 1, 2, 0)},
		{"RMS norm of x [2, 3]: gain", d.RMSNorm(x6, x6, two, 2, 3, 1e-5)},
		{"addition and RMS norm of x [2, 3]: added", d.AddRMSNorm(x6, x6, x5, two, 2, 3, 1e-5)},
		{`k (the buffer "five") holds 5 elements, want 2`, d.Rotate(x6, x5, i2, 2, 1, Rotation{Heads: 3, KVHeads: 1, Dim: 1})},
		{"before", d.Rotate(x6, two, i3, 1, 1, Rotation{Heads: 3, KVHeads: 1, Dim: 2})},
		{"repetition of src [1, 1 × 2] as 3 heads: src", d.RepeatHeads(x6, x5, 1, 3, 1, 2)},
		{"want a multiple", d.RepeatHeads(x6, f("four", 4), 1, 3, 2, 2)},
		{"gelu to \"x\", of 6 elements: input 1 (the buffer \"five\") holds 5", d.GELU(x6, x5)},
		{"input 2", d.SwiGLU(x6, x6, x5)},
		{"input 1", d.Add(x6, x5, x6)},
		{"at least 1", d.Add(Floats{}, Floats{}, Floats{})},
		{"tokens", d.Embed(x6, i2, w, 3, 2)},
		{"a whole number of rows", d.Embed(x6, i3, x5, 3, 2)},
		{"a whole number of rows", d.Embed(x6, i3, Floats{}, 3, 2)},
		{"positions", d.EmbedPositions(x6, i3, w, x5, i3, 3, 1, 2)},
		{"before", d.EmbedPositions(x6, i3, w, w, i2, 3, 1, 2)},
		{"last rows of x [1, 3, 2]: out", d.LastRows(x5, x6, 1, 3, 2)},
		{"argmax of x [2, 3]: out", d.Argmax(i3, x6, 2, 3)},
		{"split heads of src [1, 3, 2, 1]: dst", d.SplitHeads(x5, x6, 1, 3, 2, 1)},
		{"at least 1", d.MergeHeads(x6, x6, 1, 3, 2, 0)},
		{"at least 1", d.Advance(Ints{}, 1)},
		{"go on with", d.GoOn(i2, i2, i3, 1)},
		{`unknown distribution "gauss"`, d.Fill(x6, "gauss", 1, 1, 1)},
		{"at least 1", d.Fill(Floats{}, "normal", 1, 1, 1)},
	} {
		require.Error(t, c.err, c.want)
		assert.ErrorContains(t, c.err, c.want)
	}
	require.NoError(t, d.Sync())
}
