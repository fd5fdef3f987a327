package corpus

import (
	"fmt"

	"flashlab/device"
)

// tensorCores use single instructions of the tensor cores.
func tensorCores() []Case {
	return []Case{tf32Gemm(45, 37, 50), tf32Gemm(1, 17, 113), halfGemm(80, 32, 48)}
}

// The smallest parts of the factors are left out of the products, and a GPU cuts sums off where
// the simulator rounds them: twice what float32 may lose.
const tf32Why = "three products of tf32 for one: 2(k+4) roundings of the sum of magnitudes"

func tf32Gemm(m, n, k int) Case {
	return Case{fmt.Sprintf("tf32_gemm/%dx%dx%d", m, n, k), []string{"tf32_gemm"}, func(b *bench) outcome {
		x, y := random(60, m*k), random(61, k*n)
		want, magnitude := product(x, y, m, n, k)
		c := alloc[float32](b, "c", m*n)
		l := device.Launch{Grid: device.D2(grid(n, 32), grid(m, 32)), Block: device.D1(128)}
		b.launch("tensorcore.cu", "tf32_gemm", l, upload(b, "a", x), upload(b, "b", transposed(y, k, n)), c, m, n, k)
		return outcome{download(b, c), want, float64(2*(k+4)) * roundoff * magnitude, tf32Why}
	}}
}

func halfGemm(m, n, k int) Case {
	return Case{fmt.Sprintf("half_gemm/%dx%dx%d", m, n, k), []string{"half_gemm"}, func(b *bench) outcome {
		x, y := sixtyFourths(62, m*k), sixtyFourths(63, k*n)
		want, _ := product(x, y, m, n, k)
		c := alloc[float32](b, "c", m*n)
		l := device.Launch{Grid: device.D2(n/16, grid(m, 64)), Block: device.D1(128)}
		b.launch("tensorcore.cu", "half_gemm", l, upload(b, "a", halves(x)), upload(b, "b", halves(y)), c, m, n, k)
		return outcome{got: download(b, c), want: want}
	}}
}
