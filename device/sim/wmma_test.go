package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// matrix is rows × columns numbers, laid out with padded rows, or columns.
type matrix struct {
	rows, columns, stride int
	byColumns             bool
	values                []float64 // as laid out
}

const wmmaPad = 8 // as in wmma.cu

func newMatrix(rows, columns int, byColumns bool, value func() float64) matrix {
	m := matrix{rows: rows, columns: columns, stride: columns + wmmaPad, byColumns: byColumns}
	lines := rows
	if byColumns {
		m.stride, lines = rows+wmmaPad, columns
	}
	m.values = make([]float64, lines*m.stride)
	for i := range m.values {
		m.values[i] = value()
	}
	return m
}

func (m matrix) at(row, column int) float64 {
	if m.byColumns {
		return m.values[column*m.stride+row]
	}
	return m.values[row*m.stride+column]
}

func (m matrix) codes(f *format) []uint16 {
	codes := make([]uint16, len(m.values))
	for i, v := range m.values {
		codes[i] = f.round(v, nearest)
	}
	return codes
}

func (m matrix) floats() []float32 {
	all := make([]float32, len(m.values))
	for i, v := range m.values {
		all[i] = float32(v)
	}
	return all
}

// number draws numbers that both formats and all their products hold exactly.
func number(r *rand.Rand) func() float64 { return func() float64 { return float64(r.IntN(17)-8) / 4 } }

// requireProduct compares got, laid out as c is, with a·b + c.
func requireProduct(b bench, what string, left, right, c matrix, got func(i int) float64) {
	b.t.Helper()
	for i := range left.rows {
		for j := range right.columns {
			want := c.at(i, j)
			for k := range left.columns {
				want += left.at(i, k) * right.at(k, j)
			}
			at := i*c.stride + j
			if c.byColumns {
				at = j*c.stride + i
			}
			require.Equal(b.t, want, got(at), "%s: row %d, column %d", what, i, j)
		}
	}
}

func testLayouts(b bench, r *rand.Rand) {
	for which := range 8 {
		left, right := newMatrix(16, 16, which&1 != 0, number(r)), newMatrix(16, 16, which&2 != 0, number(r))
		c := newMatrix(16, 16, which&4 != 0, number(r))
		d := upload(b, "d", c.floats())
		b.launch("layouts", 32, upload(b, "a", left.codes(half16)), upload(b, "b", right.codes(half16)), upload(b, "c", c.floats()), d, which)
		got := download(b, d)
		requireProduct(b, "layouts", left, right, c, func(i int) float64 { return float64(got[i]) })
	}
}

func testShapes(b bench, r *rand.Rand, kernel string, f *format, shapes [][2]int) {
	for which, shape := range shapes {
		left, right := newMatrix(shape[0], 16, false, number(r)), newMatrix(16, shape[1], true, number(r))
		c := newMatrix(shape[0], shape[1], false, number(r))
		d := upload(b, "d", c.floats())
		b.launch(kernel, 32, upload(b, "a", left.codes(f)), upload(b, "b", right.codes(f)), upload(b, "c", c.floats()), d, which)
		got := download(b, d)
		requireProduct(b, kernel, left, right, c, func(i int) float64 { return float64(got[i]) })
	}
}

func testHalfSums(b bench, r *rand.Rand) {
	left, right := newMatrix(16, 16, false, number(r)), newMatrix(16, 16, true, number(r))
	c := newMatrix(16, 16, false, number(r))
	d := upload(b, "d", c.codes(half16))
	report := b.launch("half_sums", 32, upload(b, "a", left.codes(half16)), upload(b, "b", right.codes(half16)), upload(b, "c", c.codes(half16)), d)
	for _, l := range report.Launches {
		if l.Kernel == "half_sums" {
			assert.Equal(b.t, uint64(2*l.Launches), l.TensorCore, "16 x 16 are two instructions")
		}
	}
	got := download(b, d)
	requireProduct(b, "half_sums", left, right, c, func(i int) float64 { return half16.value(got[i]) })
}

// What tf32 cannot hold is cut off, as the hardware does where the program has
// not rounded before.
func testTF32(b bench, r *rand.Rand) {
	dirty := func() float64 { return float64(float32(r.IntN(17)-8) * (1 + 0x1p-20)) }
	left, right := newMatrix(16, 8, false, dirty), newMatrix(8, 16, true, dirty)
	c := newMatrix(16, 16, false, number(r))
	d := upload(b, "d", c.floats())
	b.launch("tf32", 32, upload(b, "a", left.floats()), upload(b, "b", right.floats()), upload(b, "c", c.floats()), d)
	for _, m := range []matrix{left, right} {
		for i, v := range m.values {
			m.values[i] = float64(math.Float32frombits(math.Float32bits(float32(v)) &^ 0x1fff))
		}
	}
	got := download(b, d)
	requireProduct(b, "tf32", left, right, c, func(i int) float64 { return float64(got[i]) })
}

func testElements(b bench, r *rand.Rand) {
	require.NoError(b.t, b.d.Reset())
	a, codes := make([]float64, 256), make([]uint16, 256)
	for i := range a {
		a[i] = number(r)()
		codes[i] = half16.round(a[i], nearest)
	}
	d, counts := alloc[float32](b, "d", 256), alloc[int32](b, "counts", 3)
	report := b.launch("elements", 32, upload(b, "a", codes), upload(b, "b", codes), d, counts)
	got := download(b, d)
	for i := range 16 {
		for j := range 16 {
			want := 1.5
			for k := range 16 {
				want += 2 * a[i*16+k] * a[k*16+j]
			}
			require.Equal(b.t, want, float64(got[i*16+j]), "row %d, column %d", i, j)
		}
	}
	assert.Equal(b.t, []int32{16, 8, 8}, download(b, counts), "num_elements, as nvcc has them")

	// Every element is read once: a in 4 requests of pairs, b, whose pairs lie
	// across its rows, in 8 of single ones. d is written in 4 requests of 8 bytes.
	c := report.Launches[0]
	assert.Equal(b.t, uint64(1024), c.GlobalRead)
	assert.Equal(b.t, uint64(1024+12), c.GlobalWritten)
	assert.Equal(b.t, uint64(4+8+4+3), c.GlobalRequests)
	assert.Equal(b.t, uint64(4*8+8*4), c.SectorsRead, "a row of 16 halves is a sector")
	assert.Equal(b.t, uint64(2*16*16*16+32*16+32*8), c.FLOPs, "the product, and a lane's 16 and 8 elements")
}

func testGEMM(b bench, r *rand.Rand) {
	const n = 64
	draw := func() ([]float64, []uint16) {
		values, codes := make([]float64, n*n), make([]uint16, n*n)
		for i := range values {
			values[i] = number(r)()
			codes[i] = half16.round(values[i], nearest)
		}
		return values, codes
	}
	x, xs := draw()
	y, ys := draw()
	c := alloc[float32](b, "c", n*n)
	b.launchShape("gemm", device.Launch{Grid: device.D2(n/32, n/32), Block: device.D1(128)}, upload(b, "a", xs), upload(b, "b", ys), c, n)
	got := download(b, c)
	for i := range n {
		for j := range n {
			want := 0.0
			for k := range n {
				want += x[i*n+k] * y[k*n+j]
			}
			require.Equal(b.t, want, float64(got[i*n+j]), "row %d, column %d", i, j)
		}
	}
}

func TestWMMA(t *testing.T) {
	withModule(t, "wmma.cu", func(b bench) {
		r := rand.New(rand.NewPCG(5, 6))
		testLayouts(b, r)
		testShapes(b, r, "half_shapes", half16, [][2]int{{32, 8}, {8, 32}})
		testShapes(b, r, "bfloat16_shapes", bfloat16, [][2]int{{16, 16}, {32, 8}, {8, 32}})
		testHalfSums(b, r)
		testTF32(b, r)
		testElements(b, r)
		testGEMM(b, r)
	})
}
