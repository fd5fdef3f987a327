package corpus

import (
	"fmt"
	"slices"

	"flashlab/device"
)

// scans are prefix sums of integers, hence exact; and what else is exact.
func scans() []Case {
	var cases []Case
	add := func(kernel string, n int, exclusive bool, run func(b *bench, x, sums device.Buffer[int32])) {
		cases = append(cases, Case{fmt.Sprintf("%s/%d", kernel, n), []string{kernel}, func(b *bench) outcome {
			data := randomInts(6, n, -50, 50)
			want, sum := make([]float64, n), 0.0
			for i, v := range data {
				if exclusive {
					want[i], sum = sum, sum+float64(v)
				} else {
					sum += float64(v)
					want[i] = sum
				}
			}
			sums := alloc[int32](b, "sums", n)
			run(b, upload(b, "x", data), sums)
			return outcome{got: download(b, sums), want: want}
		}})
	}
	for _, n := range []int{256, 201} {
		add("scan_hillis_steele", n, false, func(b *bench, x, sums device.Buffer[int32]) {
			b.launch("scan.cu", "scan_hillis_steele", withShared(one(256), 2*256*4), x, sums, n)
		})
		add("scan_in_place", n, false, func(b *bench, x, sums device.Buffer[int32]) {
			b.launch("scan.cu", "scan_in_place", one(256), x, sums, n)
		})
		add("scan_warp", n, false, func(b *bench, x, sums device.Buffer[int32]) {
			b.launch("scan.cu", "scan_warp", one(256), x, sums, n)
		})
	}
	for _, n := range []int{256, 2999} {
		add("scan_blelloch", n, true, func(b *bench, x, sums device.Buffer[int32]) {
			blocks := grid(n, 256)
			totals, before := alloc[int32](b, "totals", blocks), alloc[int32](b, "before", blocks)
			all := alloc[int32](b, "all", 1)
			b.launch("scan.cu", "scan_blelloch", many(blocks, 128), x, sums, totals, n)
			b.launch("scan.cu", "scan_blelloch", one(128), totals, before, all, blocks)
			b.launch("scan.cu", "add_totals", many(blocks, 256), sums, before, n)
		})
	}
	return append(cases, compaction(193))
}

func compaction(n int) Case {
	return Case{fmt.Sprintf("compact/%d", n), []string{"compact"}, func(b *bench) outcome {
		x := randomInts(7, n, -9, 10)
		var want []float64
		for _, v := range x {
			if v > 0 {
				want = append(want, float64(v))
			}
		}
		kept, count := upload(b, "kept", make([]int32, n)), alloc[int32](b, "count", 1)
		b.launch("scan.cu", "compact", one(256), upload(b, "x", x), kept, count, n)
		got := download(b, kept)
		return outcome{got: append(download(b, count), got...),
			want: append(append([]float64{float64(len(want))}, want...), make([]float64, n-len(want))...)}
	}}
}

// transposes move numbers without changing them.
func transposes() []Case {
	var cases []Case
	for _, kernel := range []string{"transpose_naive", "transpose_tiled", "transpose_padded"} {
		for _, shape := range [][2]int{{64, 32}, {37, 75}} {
			height, width := shape[0], shape[1]
			cases = append(cases, Case{fmt.Sprintf("%s/%dx%d", kernel, height, width), []string{kernel}, func(b *bench) outcome {
				x := random(8, height*width)
				want := make([]float64, len(x))
				for i, v := range x {
					want[i%width*height+i/width] = float64(v)
				}
				y := alloc[float32](b, "out", len(x))
				l := device.Launch{Grid: device.D2(grid(width, 32), grid(height, 32)), Block: device.D2(32, 8)}
				if kernel == "transpose_naive" {
					l.Block = device.D2(32, 32)
				}
				b.launch("transpose.cu", kernel, l, upload(b, "in", x), y, height, width)
				return outcome{got: download(b, y), want: want}
			}})
		}
	}
	return cases
}

// histograms count bytes.
func histograms() []Case {
	var cases []Case
	for _, kernel := range []string{"histogram_global", "histogram_shared", "histogram_match"} {
		const n = 3333
		cases = append(cases, Case{fmt.Sprintf("%s/%d", kernel, n), []string{kernel}, func(b *bench) outcome {
			x := make([]uint8, n)
			want := make([]float64, 64)
			for i, v := range randomInts(9, n, 0, 256) {
				x[i] = uint8(v / 3)
				want[x[i]%64]++
			}
			bins := upload(b, "bins", make([]uint32, 64))
			l := many(grid(n, 128), 128)
			if kernel == "histogram_shared" {
				l = many(5, 128)
			}
			b.launch("histogram.cu", kernel, l, upload(b, "x", x), bins, n)
			return outcome{got: download(b, bins), want: want}
		}})
	}
	return cases
}

// sorts order integers.
func sorts() []Case {
	var cases []Case
	for _, n := range []int{512, 300} {
		cases = append(cases, Case{fmt.Sprintf("bitonic_block/%d", n), []string{"bitonic_block"}, func(b *bench) outcome {
			x := randomInts(10, n, -1000, 1000)
			buf := upload(b, "x", x)
			b.launch("sort.cu", "bitonic_block", one(256), buf, n)
			return outcome{got: download(b, buf), want: widen(sorted(x))}
		}})
	}
	return append(cases, Case{"bitonic_step/1024", []string{"bitonic_step"}, func(b *bench) outcome {
		const n = 1024
		x := make([]uint32, n)
		for i, v := range randomInts(11, n, 0, 1<<20) {
			x[i] = uint32(v) * 4001 // up to 32 bits
		}
		buf := upload(b, "x", x)
		for run := 2; run <= n; run *= 2 {
			for d := run / 2; d > 0; d /= 2 {
				b.launch("sort.cu", "bitonic_step", many(8, 128), buf, n, run, d)
			}
		}
		return outcome{got: download(b, buf), want: widen(sorted(x))}
	}})
}

func sorted[T int32 | uint32](x []T) []T {
	y := slices.Clone(x)
	slices.Sort(y)
	return y
}
