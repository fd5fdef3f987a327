package corpus

import (
	"fmt"
	"math"
	"slices"

	"flashlab/device"
)

// rowCases are softmax and norms of rows.
func rowCases() []Case {
	var cases []Case
	for _, s := range []struct {
		kernel     string
		rows, cols int
		threads    int
	}{
		{"softmax_two_pass", 5, 301, 128}, {"softmax_two_pass", 3, 7, 64},
		{"softmax_online", 5, 301, 128}, {"softmax_online", 3, 7, 64},
		{"softmax_tree", 5, 301, 128}, {"softmax_tree", 2, 128, 128},
	} {
		cases = append(cases, Case{fmt.Sprintf("%s/%dx%d", s.kernel, s.rows, s.cols), []string{s.kernel}, func(b *bench) outcome {
			x := scaled(random(16, s.rows*s.cols), 8)
			y := alloc[float32](b, "y", len(x))
			l := many(s.rows, s.threads)
			if s.kernel == "softmax_tree" {
				l.Shared = 4 * s.cols
			}
			b.launch("rows.cu", s.kernel, l, upload(b, "x", x), y, s.cols)
			return outcome{download(b, y), softmax(x, s.cols), 16 * 4 * roundoff,
				"exp of arguments down to -16 is off by 16 roundings twice, once above and once below the line"}
		}})
	}
	const rows, cols, epsilon = 5, 204, 1e-5
	norm := func(name string, l device.Launch, oracle func(row, gamma, beta []float32) []float64, args func(x, gamma, beta, y device.Buffer[float32]) []any) {
		cases = append(cases, Case{fmt.Sprintf("%s/%dx%d", name, rows, cols), []string{name}, func(b *bench) outcome {
			x, gamma, beta := scaled(random(17, rows*cols), 3), random(18, cols), random(19, cols)
			var want []float64
			for row := range slices.Chunk(x, cols) {
				want = append(want, oracle(row, gamma, beta)...)
			}
			y := alloc[float32](b, "y", rows*cols)
			b.launch("rows.cu", name, l, args(upload(b, "x", x), upload(b, "gamma", gamma), upload(b, "beta", beta), y)...)
			return outcome{download(b, y), want, 2 * 16 * roundoff,
				"values up to 2, after some 16 roundings: the mean, the variance, the root, the scaling"}
		}})
	}
	norm("layer_norm", many(rows, 96), layerNorm, func(x, gamma, beta, y device.Buffer[float32]) []any {
		return []any{x, gamma, beta, y, cols, float32(epsilon)}
	})
	norm("rms_norm", device.Launch{Grid: device.D1(2), Block: device.D2(32, 4)},
		func(row, gamma, _ []float32) []float64 { return rmsNorm(row, gamma) },
		func(x, gamma, _, y device.Buffer[float32]) []any {
			return []any{x, gamma, y, rows, cols, float32(epsilon)}
		})
	return cases
}

func scaled(x []float32, by float32) []float32 {
	for i := range x {
		x[i] *= by
	}
	return x
}

func softmax(x []float32, cols int) []float64 {
	var y []float64
	for row := range slices.Chunk(x, cols) {
		largest, total := float64(slices.Max(row)), 0.0
		for _, v := range row {
			total += math.Exp(float64(v) - largest)
		}
		for _, v := range row {
			y = append(y, math.Exp(float64(v)-largest)/total)
		}
	}
	return y
}

func layerNorm(row, gamma, beta []float32) []float64 {
	sum, _ := sumOf(row)
	mean, squares := sum/float64(len(row)), 0.0
	for _, v := range row {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	scale := 1 / math.Sqrt(squares/float64(len(row))+1e-5)
	y := make([]float64, len(row))
	for i, v := range row {
		y[i] = (float64(v)-mean)*scale*float64(gamma[i]) + float64(beta[i])
	}
	return y
}

func rmsNorm(row, gamma []float32) []float64 {
	squares := 0.0
	for _, v := range row {
		squares += float64(v) * float64(v)
	}
	scale := 1 / math.Sqrt(squares/float64(len(row))+1e-5)
	y := make([]float64, len(row))
	for i, v := range row {
		y[i] = float64(v) * scale * float64(gamma[i])
	}
	return y
}
