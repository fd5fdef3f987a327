package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbers are normal, with a few that are large, and a block of zeros at the start.
func numbers(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 5))
	x := make([]float32, n)
	for i := range x {
		if x[i] = float32(r.NormFloat64()); i%97 == 0 {
			x[i] *= 50
		}
		if n > 200 && i < NF4Block {
			x[i] = 0
		}
	}
	return x
}

// TestNearestIsNearest: nothing else is nearer, and of two as near it is the even one.
func TestNearestIsNearest(t *testing.T) {
	for name, table := range map[string]ascending{"e2m1": e2m1, "e4m3": e4m3, "dynamic": DynamicTable} {
		var tries []float64
		for i, x := range table {
			tries = append(tries, float64(x))
			if i > 0 {
				middle := (float64(table[i-1]) + float64(x)) / 2
				tries = append(tries, middle, math.Nextafter(middle, -9), math.Nextafter(middle, 9))
			}
		}
		for _, x := range append(tries, -1e9, 1e9) {
			got := table.nearest(x)
			for code, value := range table {
				mine, other := math.Abs(float64(table[got])-x), math.Abs(float64(value)-x)
				assert.False(t, other < mine, "%s: %v became %v, and %v is nearer", name, x, table[got], value)
				if code != got && other == mine {
					assert.Zero(t, got%2, "%s: %v became %v, %v is as near", name, x, table[got], value)
				}
			}
		}
	}
}

// TestEveryCodeAndScale reads a number off its bits, in another way than the tables do.
func TestEveryCodeAndScale(t *testing.T) {
	for code := range 16 {
		exponent, fraction := code>>1&3, float64(code&1)
		want := fraction / 2
		if exponent > 0 {
			want = (1 + fraction/2) * math.Pow(2, float64(exponent-1))
		}
		if code >= 8 {
			want = -want
		}
		assert.EqualValues(t, want, FromE2M1(code))
		assert.Equal(t, code >= 8, math.Signbit(float64(FromE2M1(code))), "a zero has its sign")
	}
	for code := range 255 {
		assert.EqualValues(t, math.Pow(2, float64(code-127)), FromE8M0(byte(code)))
	}
	assert.True(t, math.IsNaN(float64(FromE8M0(255))))
	for code := range 256 {
		exponent, fraction := code>>3&15, float64(code&7)
		want := fraction / 8 * math.Pow(2, -6)
		if exponent > 0 {
			want = (1 + fraction/8) * math.Pow(2, float64(exponent-7))
		}
		if code >= 128 {
			want = -want
		}
		if got := FromE4M3(byte(code)); code&127 == 127 {
			assert.True(t, math.IsNaN(float64(got)))
		} else {
			assert.EqualValues(t, want, got)
		}
	}
}

// TestAnElementIsWithinHalfAStep: no format is further from a number than it must be.
func TestAnElementIsWithinHalfAStep(t *testing.T) {
	const row = 113 // whose last blocks are short
	x := numbers(9*row, 1)
	formats := map[string]struct {
		block int
		row   int
		step  float64 // the largest distance of two neighbours, in parts of the largest magnitude
		read  func() []float32
	}{
		"NF4":   {NF4Block, len(x), 0.3039, func() []float32 { n, err := ToNF4(x, false); require.NoError(t, err); return n.Numbers() }},
		"MXFP4": {MXFP4Block, row, 2. / 4, func() []float32 { n, err := ToMXFP4(x, row); require.NoError(t, err); return n.Numbers() }},
		"NVFP4": {NVFP4Block, row, 2. / 6 * 1.08, func() []float32 { n, err := ToNVFP4(x, row); require.NoError(t, err); return n.Numbers() }},
	}
	for name, f := range formats {
		got := f.read()
		require.Len(t, got, len(x))
		blocks(len(x), f.row, f.block, func(b, from, to int) {
			most := float64(magnitude(x[from:to]))
			for i := from; i < to; i++ {
				limit := f.step / 2 * most
				if name == "MXFP4" && math.Abs(float64(x[i])) > 0.75*most { // 7 and more of 8 become 6
					limit = most / 4
				}
				assert.InDelta(t, x[i], got[i], limit*1.0001, "%s: element %d of block %d", name, i, b)
			}
		})
	}
}

// TestWhatIsReadIsWrittenAgain: numbers that a format has stay as they are.
func TestWhatIsReadIsWrittenAgain(t *testing.T) {
	for _, row := range []int{1, 2, 17, 32, 113, 1000} {
		x := numbers(4*row, uint64(row))
		n, err := ToNF4(x, false)
		require.NoError(t, err)
		again, err := ToNF4(n.Numbers(), false)
		require.NoError(t, err)
		assert.Equal(t, n, again)
		m, err := ToMXFP4(x, row)
		require.NoError(t, err)
		twice, err := ToMXFP4(m.Numbers(), row)
		require.NoError(t, err)
		assert.Equal(t, m.Numbers(), twice.Numbers())
		v, err := ToNVFP4(x, row)
		require.NoError(t, err)
		assert.Len(t, v.Scales, 4*((row+15)/16))
		assert.Len(t, v.Codes, (4*row+1)/2)
	}
}

func TestTheOrderOfHalves(t *testing.T) {
	n, err := ToNF4([]float32{-1, 1, 0}, false)
	require.NoError(t, err)
	assert.Equal(t, []byte{0x0f, 0x70}, n.Codes, "the first one in the high half")
	m, err := ToMXFP4([]float32{4, -1, 0.5}, 3)
	require.NoError(t, err)
	assert.Equal(t, []byte{0xa6, 0x01}, m.Codes, "the first one in the low half")
	assert.Equal(t, []byte{127}, m.Scales)
	v, err := ToNVFP4([]float32{6 * 448, -448, 224}, 3)
	require.NoError(t, err)
	assert.Equal(t, []byte{0xa7, 0x01}, v.Codes)
	assert.Equal(t, []byte{126}, v.Scales)
	assert.EqualValues(t, 1, v.Tensor)
}

func TestZerosAndWhatIsNoNumber(t *testing.T) {
	zeros := make([]float32, 70)
	n, err := ToNF4(zeros, true)
	require.NoError(t, err)
	assert.Equal(t, zeros, n.Numbers())
	m, err := ToMXFP4(zeros, 35)
	require.NoError(t, err)
	assert.Equal(t, zeros, m.Numbers())
	assert.Equal(t, make([]byte, 4), m.Scales)
	v, err := ToNVFP4(zeros, 35)
	require.NoError(t, err)
	assert.Equal(t, zeros, v.Numbers())
	assert.EqualValues(t, 1, v.Tensor)

	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := numbers(128, 3)
		x[70] = float32(bad)
		_, err := ToNF4(x, false)
		assert.ErrorIs(t, err, ErrNotFinite)
		assert.ErrorContains(t, err, "element 70")
		_, err = ToNVFP4(x, 64)
		assert.ErrorIs(t, err, ErrNotFinite)
		m, err := ToMXFP4(x, 64)
		require.NoError(t, err)
		for i, got := range m.Numbers() {
			assert.Equal(t, i >= 64 && i < 96, math.IsNaN(float64(got)), "element %d: its block alone is NaN", i)
		}
	}
	_, err = ToMXFP4(zeros, 32)
	assert.ErrorContains(t, err, "70 numbers are no rows of 32")
	_, err = ToNVFP4(zeros, 0)
	assert.ErrorContains(t, err, "no rows of 0")

	// The largest and the smallest that there are.
	edge := []float32{math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 0}
	m, err = ToMXFP4(edge, 4)
	require.NoError(t, err)
	for _, got := range m.Numbers() {
		assert.False(t, math.IsInf(float64(got), 0))
	}
	m, err = ToMXFP4(edge[2:], 2)
	require.NoError(t, err)
	assert.Equal(t, []float32{0, 0}, m.Numbers(), "half of 2^-127 is 64 times the smallest: it is nearer to 0")
	_, err = ToNVFP4(edge[2:], 2)
	assert.NoError(t, err)
}

// TestSizes: what a device holds, beside float32.
func TestSizes(t *testing.T) {
	const rows, row = 64, 4096
	x := numbers(rows*row, 7)
	n, err := ToNF4(x, false)
	require.NoError(t, err)
	d, err := ToNF4(x, true)
	require.NoError(t, err)
	m, err := ToMXFP4(x, row)
	require.NoError(t, err)
	v, err := ToNVFP4(x, row)
	require.NoError(t, err)
	bits := func(bytes int) float64 { return 8 * float64(bytes) / (rows * row) }
	assert.InDelta(t, 4.5, bits(n.Bytes()), 1e-9)
	assert.InDelta(t, 4.127, bits(d.Bytes()), 1e-3)
	assert.InDelta(t, 4.25, bits(m.Bytes()), 1e-9)
	assert.InDelta(t, 4.5, bits(v.Bytes()), 1e-3)
}
