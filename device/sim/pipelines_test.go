package sim

import (
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/tensor"
)

// TestThePipelinesKernels runs what the bonus task's four pipelines are made of, with all checks, step by
// step in both ways, against float64.
func TestThePipelinesKernels(t *testing.T) {
	text, err := os.ReadFile("../../bonus/b5_fourbit/solution/pipelines/pipelines.cu")
	require.NoError(t, err)
	d := start(t, Options{Checks: AllChecks()})
	module, err := d.Compile(device.Source{Name: "pipelines.cu", Text: string(text)})
	require.NoError(t, err)
	run := func(name string, l device.Launch, args ...any) {
		t.Helper()
		k, err := module.Kernel(name)
		require.NoError(t, err, name)
		require.NoError(t, d.Launch(k, l, args...), name)
	}

	const rows, hidden, heads, kv, dim = 35, 40, 4, 2, 8
	const outputs = (heads + 2*kv) * dim
	fill := func(ty tensor.Type, n int, stream uint32) []float32 {
		x, err := tensor.RandomAs(ty, tensor.Normal, 5, stream, n)
		require.NoError(t, err)
		return x.Data
	}
	halves := func(name string, x []float32) device.Buffer[device.Float16] {
		y := make([]device.Float16, len(x))
		for i, v := range x {
			y[i] = device.ToFloat16(v)
		}
		b, err := device.Upload(d, name, y)
		require.NoError(t, err)
		return b
	}
	x, w, bias := fill(tensor.Float16, rows*hidden, 1), fill(tensor.Float32, outputs*hidden, 2), fill(tensor.Float16, outputs, 3)
	onX, onBias := halves("x", x), halves("bias", bias)
	onW, err := device.Upload(d, "w", w)
	require.NoError(t, err)

	// The truth, in float64.
	y := make([]float64, rows*outputs)
	for i := range y {
		y[i] = float64(bias[i%outputs])
		for j := range hidden {
			y[i] += float64(x[i/outputs*hidden+j]) * float64(w[i%outputs*hidden+j])
		}
	}
	want := make([]float64, rows*heads*dim)
	for head := range heads {
		part := func(first int) matrix {
			m := matrix{rows: rows, columns: dim, values: make([]float64, rows*dim)}
			for i := range m.values {
				m.values[i] = y[i/dim*outputs+first*dim+i%dim]
			}
			return m
		}
		for i, v := range attentionOf(part(head), part(heads+head/2), part(heads+kv+head/2), true, func(x float64) float64 { return x }) {
			want[i/dim*heads*dim+head*dim+i%dim] = v
		}
	}

	buffer := func(name string, n int) device.Buffer[float32] {
		b, err := device.Alloc[float32](d, name, n)
		require.NoError(t, err)
		return b
	}
	s, out := buffer("s", heads*rows*rows), halves("out", make([]float32, rows*heads*dim))
	over := func(n, each int) int { return (n + each - 1) / each }
	for _, way := range []string{"naive", "tiled"} {
		grid, threads := func(n, z int) device.Dim { return device.D3(over(n, 128), rows, z) }, 128
		if way == "tiled" {
			grid, threads = func(n, z int) device.Dim { return device.D3(over(n, 32), over(rows, 32), z) }, 256
		}
		launch := func(n, z int) device.Launch {
			return device.Launch{Grid: grid(n, z), Block: device.D1(threads)}
		}
		var parts [3]device.Buffer[float32]
		first := 0
		for i, n := range []int{heads * dim, kv * dim, kv * dim} {
			parts[i] = buffer("part", rows*n)
			slice, err := onW.Slice(first*hidden, (first+n)*hidden)
			require.NoError(t, err)
			b, err := onBias.Slice(first, first+n)
			require.NoError(t, err)
			run("product_"+way, launch(n, 1), onX, slice, b, parts[i], rows, hidden, n)
			first += n
		}
		run("scores_"+way, launch(rows, heads), parts[0], parts[1], s, rows, heads, kv, dim)
		run("mask", device.Launch{Grid: device.D3(over(rows, 128), rows, heads), Block: device.D1(128)}, s, rows, float32(1/math.Sqrt(dim)))
		if way == "tiled" {
			run("softmax_chunks", device.Launch{Grid: device.D1(over(heads*rows, 4)), Block: device.D1(128)}, s, rows, heads*rows)
		} else {
			run("softmax_naive", device.Launch{Grid: device.D1(over(heads*rows, 128)), Block: device.D1(128)}, s, rows, heads*rows)
		}
		run("sum_"+way, launch(dim, heads), s, parts[2], out, rows, heads, kv, dim)
		got, err := out.CopyOut(d)
		require.NoError(t, err)
		for i, g := range got {
			require.InDelta(t, want[i], g.Float32(), 2e-3*(1+math.Abs(want[i])), "%s, number %d", way, i)
		}
	}

	by := [3]device.Buffer[device.Float16]{halves("q", make([]float32, rows*heads*dim)), halves("k", make([]float32, rows*kv*dim)), halves("v", make([]float32, rows*kv*dim))}
	run("product_fused", device.Launch{Grid: device.D2(over(outputs, 32), over(rows, 32)), Block: device.D1(256)},
		onX, onW, onBias, by[0], by[1], by[2], rows, hidden, heads, kv, dim)
	first := 0
	for i, n := range []int{heads, kv, kv} {
		got, err := by[i].CopyOut(d)
		require.NoError(t, err)
		for at, g := range got {
			head, row := at/dim/rows, at/dim%rows
			require.InDelta(t, y[row*outputs+(first+head)*dim+at%dim], g.Float32(), 2e-2, "%d, number %d", i, at)
		}
		first += n
	}
	r, err := d.Report()
	require.NoError(t, err)
	assert.Empty(t, r.Findings)
}
