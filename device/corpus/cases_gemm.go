package corpus

import (
	"fmt"
	"math"

	"flashlab/device"
)

// product is a × b in float64, and the largest sum of magnitudes in it.
func product(a, b []float32, m, n, k int) (c []float64, magnitude float64) {
	c = make([]float64, m*n)
	for i := range m {
		for j := range n {
			sum, size := 0.0, 0.0
			for p := range k {
				v := float64(a[i*k+p]) * float64(b[p*n+j])
				sum, size = sum+v, size+math.Abs(v)
			}
			c[i*n+j], magnitude = sum, max(magnitude, size)
		}
	}
	return c, magnitude
}

const gemmWhy = "a chain of k products and additions: (k + 1) roundings of the sum of their magnitudes"

// gemms multiply matrices, of odd sizes where the kernel allows.
func gemms() []Case {
	var cases []Case
	for _, g := range []struct {
		kernel  string
		tile    int // of the result, a block
		block   device.Dim
		m, n, k int
	}{
		{"gemm_naive", 16, device.D2(16, 16), 33, 47, 29},
		{"gemm_tiled", 16, device.D2(16, 16), 32, 48, 64},
		{"gemm_tiled", 16, device.D2(16, 16), 33, 47, 29},
		{"gemm_double", 16, device.D2(16, 16), 33, 47, 29},
		{"gemm_double", 16, device.D2(16, 16), 16, 32, 80},
		{"gemm_coarse", 32, device.D1(256), 33, 47, 29},
		{"gemm_register", 64, device.D1(256), 65, 99, 29},
		{"gemm_warp", 64, device.D1(128), 128, 64, 48},
	} {
		cases = append(cases, Case{fmt.Sprintf("%s/%dx%dx%d", g.kernel, g.m, g.n, g.k), []string{g.kernel}, func(b *bench) outcome {
			x, y := random(12, g.m*g.k), random(13, g.k*g.n)
			want, magnitude := product(x, y, g.m, g.n, g.k)
			c := alloc[float32](b, "c", g.m*g.n)
			l := device.Launch{Grid: device.D2(grid(g.n, g.tile), grid(g.m, g.tile)), Block: g.block}
			b.launch("gemm.cu", g.kernel, l, upload(b, "a", x), upload(b, "b", y), c, g.m, g.n, g.k)
			return outcome{download(b, c), want, float64(g.k+1) * roundoff * magnitude, gemmWhy}
		}})
	}
	return cases
}

// gemvs multiply a wide matrix by a vector.
func gemvs() []Case {
	const rows, cols, part = 21, 701, 128
	parts := grid(cols, part)
	run := func(name string, kernels []string, launch func(b *bench, a, x device.Buffer[float32]) device.Buffer[float32]) Case {
		return Case{fmt.Sprintf("%s/%dx%d", name, rows, cols), kernels, func(b *bench) outcome {
			a, x := random(14, rows*cols), random(15, cols)
			want, magnitude := product(a, x, rows, 1, cols)
			y := launch(b, upload(b, "a", a), upload(b, "x", x))
			return outcome{download(b, y), want, float64(part+parts) * roundoff * magnitude, gemmWhy}
		}}
	}
	return []Case{
		run("gemv_split", []string{"gemv_split"}, func(b *bench, a, x device.Buffer[float32]) device.Buffer[float32] {
			y := upload(b, "y", make([]float32, rows))
			l := device.Launch{Grid: device.D2(grid(rows, 4), parts), Block: device.D2(32, 4)}
			b.launch("gemv.cu", "gemv_split", l, a, x, y, rows, cols, part)
			return y
		}),
		run("gemv_partial", []string{"gemv_partial", "gemv_join"}, func(b *bench, a, x device.Buffer[float32]) device.Buffer[float32] {
			partial, y := alloc[float32](b, "partial", parts*rows), alloc[float32](b, "y", rows)
			l := device.Launch{Grid: device.D2(grid(rows, 32), parts), Block: device.D1(32)}
			b.launch("gemv.cu", "gemv_partial", l, a, x, partial, rows, cols, part)
			b.launch("gemv.cu", "gemv_join", one(32), partial, y, rows, parts)
			return y
		}),
	}
}
