package corpus

import (
	"fmt"
	"math"
	"slices"

	"flashlab/device"
)

const sumWhy = "as many roundings as a chain of additions has, each at most 2^-24 of the sum of the magnitudes"

func sumOf(x []float32) (sum, magnitude float64) {
	for _, v := range x {
		sum += float64(v)
		magnitude += math.Abs(float64(v))
	}
	return sum, magnitude
}

// sums are reductions of 5000 numbers, and of one.
func sums() []Case {
	var cases []Case
	add := func(kernel string, n, chain int, run func(b *bench, x device.Buffer[float32]) device.Buffer[float32]) {
		cases = append(cases, Case{fmt.Sprintf("%s/%d", kernel, n), []string{kernel}, func(b *bench) outcome {
			data := random(1, n)
			want, magnitude := sumOf(data)
			result := run(b, upload(b, "x", data))
			total := 0.0
			for _, v := range download(b, result) {
				total += v
			}
			return outcome{[]float64{total}, []float64{want}, float64(chain) * roundoff * magnitude, sumWhy}
		}})
	}
	for _, n := range []int{1, 5000} {
		add("sum_tree", n, 9, func(b *bench, x device.Buffer[float32]) device.Buffer[float32] {
			sums := alloc[float32](b, "sums", grid(n, 256))
			b.launch("reduce.cu", "sum_tree", many(grid(n, 256), 256), x, sums, n)
			return sums
		})
		add("sum_unrolled", n, 10, func(b *bench, x device.Buffer[float32]) device.Buffer[float32] {
			sums := alloc[float32](b, "sums", grid(n, 512))
			b.launch("reduce.cu", "sum_unrolled", many(grid(n, 512), 256), x, sums, n)
			return sums
		})
		add("sum_shuffle", n, 7+8+12, func(b *bench, x device.Buffer[float32]) device.Buffer[float32] {
			sums, total := alloc[float32](b, "sums", 6), alloc[float32](b, "total", 1)
			b.launch("reduce.cu", "sum_shuffle", many(6, 128), x, sums, n)
			b.launch("reduce.cu", "sum_shuffle", one(128), sums, total, 6)
			return total
		})
		add("sum_atomic", n, 5+grid(n, 32), func(b *bench, x device.Buffer[float32]) device.Buffer[float32] {
			total := upload(b, "total", []float32{0})
			b.launch("reduce.cu", "sum_atomic", many(grid(n, 256), 256), x, total, n)
			return total
		})
		add("sum_last_block", n, 5+4+grid(n, 128), func(b *bench, x device.Buffer[float32]) device.Buffer[float32] {
			parts, total := alloc[float32](b, "parts", grid(n, 128)), alloc[float32](b, "total", 1)
			finished := upload(b, "finished", []uint32{0})
			b.launch("reduce.cu", "sum_last_block", many(grid(n, 128), 128), x, parts, finished, total, n)
			return total
		})
	}
	return append(cases, dot(4099), dot(3), maximum(3001), argmax(1000), argmax(77), topRows(13, 75))
}

func dot(n int) Case {
	return Case{fmt.Sprintf("dot_vec4/%d", n), []string{"dot_vec4"}, func(b *bench) outcome {
		x, y := random(1, n), random(2, n)
		want, magnitude := 0.0, 0.0
		for i := range x {
			p := float64(x[i]) * float64(y[i])
			want, magnitude = want+p, magnitude+math.Abs(p)
		}
		result := upload(b, "dot", []float32{0})
		b.launch("reduce.cu", "dot_vec4", many(3, 64), upload(b, "a", x), upload(b, "b", y), result, n)
		chain := 5 + grid(n, 192) + 5 + 6
		return outcome{download(b, result), []float64{want}, float64(chain) * roundoff * magnitude, sumWhy}
	}}
}

func maximum(n int) Case {
	return Case{fmt.Sprintf("max_cas/%d", n), []string{"max_cas"}, func(b *bench) outcome {
		x := random(3, n)
		largest := upload(b, "largest", []float32{float32(math.Inf(-1))})
		b.launch("reduce.cu", "max_cas", many(grid(n, 128), 128), upload(b, "x", x), largest, n)
		return outcome{got: download(b, largest), want: []float64{float64(slices.Max(x))}}
	}}
}

// coarse has many equal values, so that ties are decided.
func coarse(stream uint32, n int) []float32 {
	x := random(stream, n)
	for i := range x {
		x[i] = float32(math.Trunc(float64(x[i]) * 8))
	}
	return x
}

func argmax(n int) Case {
	return Case{fmt.Sprintf("argmax/%d", n), []string{"argmax"}, func(b *bench) outcome {
		x := coarse(4, n)
		value, index := alloc[float32](b, "value", 1), alloc[int32](b, "index", 1)
		b.launch("reduce.cu", "argmax", one(128), upload(b, "x", x), value, index, n)
		best := slices.Max(x)
		return outcome{got: append(download(b, value), download(b, index)...), want: []float64{float64(best), float64(slices.Index(x, best))}}
	}}
}

func topRows(rows, cols int) Case {
	return Case{fmt.Sprintf("top1_rows/%dx%d", rows, cols), []string{"top1_rows"}, func(b *bench) outcome {
		x := coarse(5, rows*cols)
		value, index := alloc[float32](b, "value", rows), alloc[int32](b, "index", rows)
		b.launch("reduce.cu", "top1_rows", many(grid(rows, 4), 128), upload(b, "x", x), value, index, rows, cols)
		var values, indices []float64
		for row := range slices.Chunk(x, cols) {
			best := slices.Max(row)
			values, indices = append(values, float64(best)), append(indices, float64(slices.Index(row, best)))
		}
		return outcome{got: append(download(b, value), download(b, index)...), want: append(values, indices...)}
	}}
}
