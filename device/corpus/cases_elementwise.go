package corpus

import (
	"fmt"
	"math"

	"flashlab/device"
)

// elementwise kernels need no other thread.
func elementwise() []Case {
	const n = 1001
	unary := func(kernel string, f func(x float64) float64) Case {
		return Case{fmt.Sprintf("%s/%d", kernel, n), []string{kernel}, func(b *bench) outcome {
			x := scaled(random(20, n), 4)
			want := make([]float64, n)
			for i, v := range x {
				want[i] = f(float64(v))
			}
			y := alloc[float32](b, "y", n)
			b.launch("elementwise.cu", kernel, many(grid(n, 128), 128), upload(b, "x", x), y, n)
			return outcome{download(b, y), want, 4 * 8 * roundoff, "values up to 4, and 8 roundings with those inside erf or tanh"}
		}}
	}
	return []Case{
		{fmt.Sprintf("saxpy/%d", n), []string{"saxpy"}, func(b *bench) outcome {
			x, y := random(21, n), random(22, n)
			const alpha = float32(0.7)
			want := make([]float64, n)
			for i := range x {
				want[i] = float64(alpha)*float64(x[i]) + float64(y[i])
			}
			buf := upload(b, "y", y)
			b.launch("elementwise.cu", "saxpy", many(2, 128), alpha, upload(b, "x", x), buf, n)
			return outcome{download(b, buf), want, 2 * 2 * roundoff, "two roundings of values below 2; one where they are fused"}
		}},
		unary("gelu", func(x float64) float64 { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) }),
		unary("gelu_tanh", func(x float64) float64 {
			return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}),
		swiglu(7, 45), rope(9, 3, 20), gather(50, 12),
	}
}

func swiglu(rows, cols int) Case {
	return Case{fmt.Sprintf("swiglu/%dx%d", rows, cols), []string{"swiglu"}, func(b *bench) outcome {
		x := scaled(random(23, rows*2*cols), 4)
		want := make([]float64, rows*cols)
		for i := range want {
			gate, v := float64(x[i/cols*2*cols+i%cols]), float64(x[i/cols*2*cols+cols+i%cols])
			want[i] = gate / (1 + math.Exp(-gate)) * v
		}
		y := alloc[float32](b, "y", rows*cols)
		b.launch("elementwise.cu", "swiglu", many(grid(rows*cols, 64), 64), upload(b, "x", x), y, rows, cols)
		return outcome{download(b, y), want, 16 * 12 * roundoff, "values up to 16, and 12 roundings, most of them in exp"}
	}}
}

func rope(tokens, heads, dim int) Case {
	return Case{fmt.Sprintf("rope/%dx%dx%d", tokens, heads, dim), []string{"rope"}, func(b *bench) outcome {
		x, positions := random(24, tokens*heads*dim), make([]int32, tokens)
		for i := range positions {
			positions[i] = int32(7*i + 1)
		}
		want := make([]float64, len(x))
		for i := 0; i < len(x); i += 2 {
			token, pair := i/(heads*dim), i%dim/2
			angle := float64(positions[token]) * math.Pow(10000, -2*float64(pair)/float64(dim))
			s, c := math.Sincos(angle)
			u, v := float64(x[i]), float64(x[i+1])
			want[i], want[i+1] = u*c-v*s, u*s+v*c
		}
		buf := upload(b, "x", x)
		l := device.Launch{Grid: device.D2(heads, tokens), Block: device.D1(32)}
		b.launch("elementwise.cu", "rope", l, buf, upload(b, "positions", positions), tokens, heads, dim, float32(10000))
		return outcome{download(b, buf), want, 64 * 8 * roundoff, "angles up to 57, whose powers are off by some 8 roundings"}
	}}
}

func gather(vocabulary, width int) Case {
	return Case{fmt.Sprintf("gather/%dx%d", vocabulary, width), []string{"gather"}, func(b *bench) outcome {
		table, ids := random(25, vocabulary*width), []int32{0, 49, 7, -1, 7, 50, 23}
		want := make([]float64, 0, len(ids)*width)
		for _, id := range ids {
			row := make([]float32, width)
			if id >= 0 && int(id) < vocabulary {
				row = table[int(id)*width:][:width]
			}
			want = append(want, widen(row)...)
		}
		rows := alloc[float32](b, "rows", len(want))
		b.launch("elementwise.cu", "gather", many(len(ids), 32), upload(b, "table", table), upload(b, "ids", ids), rows, vocabulary, width)
		return outcome{got: download(b, rows), want: want}
	}}
}

// stencils look at neighbours.
func stencils() []Case {
	const n = 333
	at := func(x []float64, i int) float64 {
		if i < 0 || i >= len(x) {
			return 0
		}
		return x[i]
	}
	return []Case{
		{fmt.Sprintf("stencil_1d/%d", n), []string{"stencil_1d"}, func(b *bench) outcome {
			x := random(26, n)
			want := widen(x)
			for range 2 {
				next := make([]float64, n)
				for i := range next {
					next[i] = 0.25*at(want, i-1) + 0.5*at(want, i) + 0.25*at(want, i+1)
				}
				want = next
			}
			y := alloc[float32](b, "y", n)
			b.launch("stencil.cu", "stencil_1d", many(grid(n, 128), 128), upload(b, "x", x), y, n)
			return outcome{download(b, y), want, 6 * roundoff, "three roundings a step of values below 1"}
		}},
		{fmt.Sprintf("conv_1d/%d", n), []string{"conv_1d"}, func(b *bench) outcome {
			x, taps := random(27, n), []float64{0.0625, 0.125, 0.25, 0.5, -0.25, -0.125, 0.0625}
			want, wide := make([]float64, n), widen(x)
			for i := range want {
				for k, tap := range taps {
					want[i] += tap * at(wide, i+k-3)
				}
			}
			y := alloc[float32](b, "y", n)
			b.launch("stencil.cu", "conv_1d", many(grid(n, 128), 128), upload(b, "x", x), y, n)
			return outcome{download(b, y), want, 8 * 1.4 * roundoff, "seven products, whose magnitudes sum to 1.4 at most"}
		}},
		{"conv_2d/37x29", []string{"conv_2d"}, func(b *bench) outcome {
			const height, width = 37, 29
			image, filter := random(28, height*width), random(29, 25)
			want := make([]float64, height*width)
			for i := range want {
				for k, weight := range filter {
					y, x := i/width+k/5-2, i%width+k%5-2
					if y >= 0 && y < height && x >= 0 && x < width {
						want[i] += float64(weight) * float64(image[y*width+x])
					}
				}
			}
			result := alloc[float32](b, "out", len(want))
			l := device.Launch{Grid: device.D2(grid(width, 16), grid(height, 16)), Block: device.D2(16, 16), Shared: 4 * (20*20 + 25)}
			b.launch("stencil.cu", "conv_2d", l, upload(b, "image", image), upload(b, "filter", filter), result, height, width)
			return outcome{download(b, result), want, 26 * 25 * roundoff, "25 products of values below 1"}
		}},
	}
}
