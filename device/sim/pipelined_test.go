package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// Rows, columns and depths that no tile divides; the last needs every stage.
func testPipelined(b bench, r *rand.Rand) {
	const tile, shared = 64, 2 * 4 * 64 * 72 * 2 // as in pipelined.cu: 72 KB
	for _, size := range [][3]int{{1, 1, 8}, {65, 113, 72}, {17, 64, 264}, {100, 30, 400}} {
		m, n, k := size[0], size[1], size[2]
		left, right, sums := dense(r, m, k, false), dense(r, k, n, true), dense(r, m, n, false)
		clear(sums.values)
		c := alloc[float32](b, "c", m*n)
		b.launchShape("product", device.Launch{Grid: device.D2((n+tile-1)/tile, (m+tile-1)/tile), Block: device.D1(128), Shared: shared},
			upload(b, "a", left.codes(half16)), upload(b, "b", right.codes(half16)), c, m, n, k)
		got := download(b, c)
		requireProduct(b, "product", left, right, sums, func(i int) float64 { return float64(got[i]) })
	}
}

func testScalars(b bench, r *rand.Rand) {
	x, n := make([]float32, 32), make([]uint32, 32)
	least, largest, sum := uint32(math.MaxUint32), uint32(0), uint32(0)
	for i := range x {
		x[i] = float32(1+r.IntN(1000)) / 64 // exact in half
		n[i] = r.Uint32N(1 << 19)           // their sum is exact in float
		least, largest, sum = min(least, n[i]), max(largest, n[i]), sum+n[i]
	}
	out := alloc[float32](b, "out", 16*32)
	b.launch("scalars", 32, upload(b, "x", x), upload(b, "n", n), out)
	got := download(b, out)
	for t, v := range x {
		want := []float32{float32(math.Exp2(float64(v))), v / 4, v * 32, v / 32, -v, -v, v, v, -v, 1,
			float32(largest), float32(least), float32(sum), v, x[t/4*4+t%2], 1 / v}
		for i, w := range want {
			require.InEpsilon(b.t, w, got[16*t+i], 1e-6, "out[%d] of lane %d", i, t)
		}
	}
}

func TestWhatFastKernelsUse(t *testing.T) {
	withModule(t, "pipelined.cu", func(b bench) {
		r := rand.New(rand.NewPCG(9, 10))
		testPipelined(b, r)
		testScalars(b, r)
	})
}
