package corpus

import (
	"fmt"
	"math"

	"flashlab/device"
)

// sixtyFourths are numbers in [-1, 1) with 6 binary places: exact in half and
// bfloat16, and so are the sums of their products in float32. A matrix unit must
// get them right to the last bit, in whatever order it adds.
func sixtyFourths(stream uint32, n int) []float32 {
	x := random(stream, n)
	for i := range x {
		x[i] = float32(math.Floor(float64(x[i])*64) / 64)
	}
	return x
}

// halves writes numbers that half holds exactly as its bits.
func halves(x []float32) []uint16 {
	bits := make([]uint16, len(x))
	for i, v := range x {
		f := math.Float32bits(v)
		if v != 0 {
			bits[i] = uint16(f>>31<<15 | (f>>23&0xff-127+15)<<10 | f>>13&0x3ff)
		}
	}
	return bits
}

// bfloats writes numbers that bfloat16 holds exactly as its bits.
func bfloats(x []float32) []uint16 {
	bits := make([]uint16, len(x))
	for i, v := range x {
		bits[i] = uint16(math.Float32bits(v) >> 16)
	}
	return bits
}

// fromHalf reads a normal number or zero.
func fromHalf(h uint16) float64 {
	if h&0x7fff == 0 {
		return 0
	}
	v := math.Ldexp(1+float64(h&0x3ff)/1024, int(h>>10&0x1f)-15)
	return math.Copysign(v, float64(1-2*int(h>>15)))
}

func fromBfloat(b uint16) float64 { return float64(math.Float32frombits(uint32(b) << 16)) }

// tensors use half precision, matrix units, asynchronous copies and groups.
func tensors() []Case {
	return []Case{halfAxpy(501), bfloatRMS(7, 46), wmmaGemm(32, 48, 64), wmmaTiled(45, 37, 30),
		asyncGemm(45, 36, 52), asyncGemm(32, 32, 16), asyncStream(1001), groupSums(1000)}
}

func halfAxpy(pairs int) Case {
	return Case{fmt.Sprintf("half_axpy/%d", 2*pairs), []string{"half_axpy"}, func(b *bench) outcome {
		x, y := sixtyFourths(40, 2*pairs), sixtyFourths(41, 2*pairs)
		const alpha = float32(0.75)
		want := make([]float64, len(x))
		for i := range x {
			want[i] = float64(alpha)*float64(x[i]) + float64(y[i])
		}
		buf := upload(b, "y", halves(y))
		b.launch("tensor.cu", "half_axpy", many(grid(pairs, 64), 64), alpha, upload(b, "x", halves(x)), buf, pairs)
		// 8 binary places and 1 before them fit in half's 11.
		return outcome{got: read(b, buf, fromHalf), want: want}
	}}
}

// read downloads 16-bit numbers.
func read(b *bench, buf device.Buffer[uint16], from func(uint16) float64) []float64 {
	x := download(b, buf)
	for i, bits := range x {
		x[i] = from(uint16(bits))
	}
	return x
}

func bfloatRMS(rows, cols int) Case {
	return Case{fmt.Sprintf("bf16_rms/%dx%d", rows, cols), []string{"bf16_rms"}, func(b *bench) outcome {
		x := sixtyFourths(42, rows*cols)
		want := make([]float64, rows)
		for i, v := range x {
			want[i/cols] += float64(v) * float64(v) / float64(cols)
		}
		for i := range want {
			want[i] = math.Sqrt(want[i])
		}
		rms := alloc[uint16](b, "rms", rows)
		l := device.Launch{Grid: device.D1(grid(rows, 4)), Block: device.D2(32, 4)}
		b.launch("tensor.cu", "bf16_rms", l, upload(b, "x", bfloats(x)), rms, rows, cols)
		return outcome{read(b, rms, fromBfloat), want, 0x1p-9 + 4*roundoff, "a value below 1, rounded to 8 binary places"}
	}}
}

func transposed(x []float32, rows, cols int) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i%cols*rows+i/cols] = v
	}
	return y
}

func wmmaGemm(m, n, k int) Case {
	return Case{fmt.Sprintf("wmma_gemm/%dx%dx%d", m, n, k), []string{"wmma_gemm"}, func(b *bench) outcome {
		x, y := sixtyFourths(43, m*k), sixtyFourths(44, k*n)
		want, _ := product(x, y, m, n, k)
		c := alloc[float32](b, "c", m*n)
		l := device.Launch{Grid: device.D2(n/16, grid(m/16, 4)), Block: device.D2(32, 4)}
		b.launch("tensor.cu", "wmma_gemm", l, upload(b, "a", halves(x)), upload(b, "b", halves(transposed(y, k, n))), c, m, n, k)
		return outcome{got: download(b, c), want: want}
	}}
}

func wmmaTiled(m, n, k int) Case {
	return Case{fmt.Sprintf("wmma_tiled/%dx%dx%d", m, n, k), []string{"wmma_tiled"}, func(b *bench) outcome {
		x, y := sixtyFourths(45, m*k), sixtyFourths(46, k*n)
		want, _ := product(x, y, m, n, k)
		for i := range want {
			want[i] *= 0.5
		}
		c := alloc[float32](b, "c", m*n)
		l := device.Launch{Grid: device.D2(grid(n, 32), grid(m, 32)), Block: device.D1(128)}
		b.launch("tensor.cu", "wmma_tiled", l, upload(b, "a", bfloats(x)), upload(b, "b", bfloats(y)), c, m, n, k, float32(0.5))
		return outcome{got: download(b, c), want: want}
	}}
}

func asyncGemm(m, n, k int) Case {
	return Case{fmt.Sprintf("gemm_async/%dx%dx%d", m, n, k), []string{"gemm_async"}, func(b *bench) outcome {
		x, y := random(47, m*k), random(48, k*n)
		want, magnitude := product(x, y, m, n, k)
		c := alloc[float32](b, "c", m*n)
		l := device.Launch{Grid: device.D2(grid(n, 32), grid(m, 32)), Block: device.D1(256)}
		b.launch("async.cu", "gemm_async", l, upload(b, "a", x), upload(b, "b", y), c, m, n, k)
		return outcome{download(b, c), want, float64(k+1) * roundoff * magnitude, gemmWhy}
	}}
}

func asyncStream(n int) Case {
	return Case{fmt.Sprintf("stream_async/%d", n), []string{"stream_async"}, func(b *bench) outcome {
		x := sixtyFourths(49, n)
		want := widen(x)
		for i := range want {
			want[i] = 2*want[i] + 1
		}
		y := alloc[float32](b, "y", n)
		b.launch("async.cu", "stream_async", many(2, 64), upload(b, "x", x), y, n)
		return outcome{got: download(b, y), want: want}
	}}
}

func groupSums(n int) Case {
	return Case{fmt.Sprintf("sum_groups/%d", n), []string{"sum_groups"}, func(b *bench) outcome {
		x := random(50, n)
		want, magnitude := sumOf(x)
		sums := alloc[float32](b, "sums", grid(n, 128))
		b.launch("async.cu", "sum_groups", withShared(many(grid(n, 128), 128), 4*8), upload(b, "x", x), sums, n)
		total := 0.0
		for _, v := range download(b, sums) {
			total += v
		}
		return outcome{[]float64{total}, []float64{want}, 12 * roundoff * magnitude, sumWhy}
	}}
}
