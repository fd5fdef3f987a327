package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// dense is a matrix without padding, of numbers that every format holds exactly.
func dense(r *rand.Rand, rows, columns int, byColumns bool) matrix {
	m := newMatrix(rows, columns, byColumns, number(r))
	lines, length := rows, columns
	if byColumns {
		lines, length = columns, rows
	}
	m.stride, m.values = length, m.values[:lines*length]
	return m
}

func testProducts(b bench, r *rand.Rand, kernel string, f *format) {
	left, right, c := dense(r, 16, 16, false), dense(r, 16, 8, true), dense(r, 16, 8, false)
	require.NoError(b.t, b.d.Reset())
	d := upload(b, "d", c.floats())
	report := b.launch(kernel, 32, upload(b, "a", left.codes(f)), upload(b, "b", right.codes(f)), d)
	assert.Equal(b.t, uint64(2*16*16*8), report.Launches[0].FLOPs, kernel)
	assert.Equal(b.t, uint64(1), report.Launches[0].TensorCore, kernel)
	got := download(b, d)
	requireProduct(b, kernel, left, right, c, func(i int) float64 { return float64(got[i]) })
}

func testTF32Products(b bench, r *rand.Rand) {
	for _, round := range []bool{false, true} {
		left, right, c := dense(r, 16, 8, false), dense(r, 8, 8, true), dense(r, 16, 8, false)
		for i := range left.values { // three quarters of what tf32's last bit is worth
			left.values[i] = float64(r.IntN(17)-8) * (1 + 3*0x1p-12)
		}
		for i := range right.values { // cut off or rounded, it is the same
			right.values[i] = float64(r.IntN(17)-8) * (1 + 0x1p-20)
		}
		require.NoError(b.t, b.d.Reset())
		d := upload(b, "d", c.floats())
		report := b.launch("tf32_product", 32, upload(b, "a", left.floats()), upload(b, "b", right.floats()), d, round)
		assert.Equal(b.t, uint64(2*16*8*8), report.Launches[0].FLOPs)
		assert.Equal(b.t, uint64(1), report.Launches[0].TensorCore)
		for _, m := range []matrix{left, right} {
			for i, v := range m.values {
				code := math.Float32bits(float32(v))
				if round {
					code += 0x1000
				}
				m.values[i] = float64(math.Float32frombits(code &^ 0x1fff))
			}
		}
		got := download(b, d)
		requireProduct(b, "tf32_product", left, right, c, func(i int) float64 { return float64(got[i]) })
	}
}

func testLoads(b bench) {
	x := make([]uint16, 4*64)
	for i := range x {
		x[i] = uint16(i*257 + 1)
	}
	// Rows of 16 bytes side by side, 144 bytes apart, and 128: the same banks for all of a matrix.
	for stride, passes := range map[int]uint64{8: 4, 72: 4, 64: 32} {
		for _, transposed := range []bool{false, true} {
			require.NoError(b.t, b.d.Reset())
			r := alloc[uint32](b, "r", 4*32)
			report := b.launchShape("loads", device.Launch{Grid: device.D1(1), Block: device.D1(32), Shared: 32 * 2 * stride},
				upload(b, "x", x), r, stride, transposed)
			for i, got := range download(b, r) {
				matrix, g, t := x[i/32*64:], i%32/4, i%4
				want := uint32(matrix[g*8+2*t]) | uint32(matrix[g*8+2*t+1])<<16
				if transposed {
					want = uint32(matrix[2*t*8+g]) | uint32(matrix[(2*t+1)*8+g])<<16
				}
				require.Equal(b.t, want, got, "stride %d, transposed %v: r[%d] of lane %d", stride, transposed, i/32, i%32)
			}
			c := report.Launches[0]
			assert.Equal(b.t, uint64(512), c.SharedRead)
			for _, line := range c.LineCounts {
				if line.Shared && line.Op == "read" {
					assert.Equal(b.t, passes, line.Passes, "stride %d", stride)
				}
			}
		}
	}
}

func testProductOfMany(b bench, r *rand.Rand) {
	const n = 64
	left, right := dense(r, n, n, false), dense(r, n, n, false)
	c := dense(r, n, n, false)
	clear(c.values)
	require.NoError(b.t, b.d.Reset())
	d := alloc[float32](b, "c", n*n)
	report := b.launchShape("product", device.Launch{Grid: device.D2(n/32, n/32), Block: device.D1(128)},
		upload(b, "a", left.codes(half16)), upload(b, "b", right.codes(half16)), d, n)
	assert.Equal(b.t, uint64(2*n*n*n), report.Launches[0].FLOPs)
	got := download(b, d)
	requireProduct(b, "product", left, right, c, func(i int) float64 { return float64(got[i]) })
}

func TestTensorCore(t *testing.T) {
	withModule(t, "tensorcore.cu", func(b bench) {
		r := rand.New(rand.NewPCG(7, 8))
		testProducts(b, r, "half_product", half16)
		testProducts(b, r, "bfloat16_product", bfloat16)
		testTF32Products(b, r)
		testLoads(b)
		testProductOfMany(b, r)
	})
}
