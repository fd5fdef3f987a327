package tensor

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var inf = float32(math.Inf(1))

// TestKnownNumbers: codes as IEEE 754 and the vendors' manuals give them.
func TestKnownNumbers(t *testing.T) {
	for _, k := range []struct {
		Type
		x    float32
		code uint32
	}{
		{Float16, 0, 0}, {Float16, float32(math.Copysign(0, -1)), 0x8000}, {Float16, 1, 0x3c00}, {Float16, -2, 0xc000},
		{Float16, 65504, 0x7bff}, {Float16, 65519.996, 0x7bff}, {Float16, 65520, 0x7c00}, {Float16, inf, 0x7c00}, {Float16, -inf, 0xfc00},
		{Float16, 1.0 / 3, 0x3555}, {Float16, 0x1p-14, 0x0400}, {Float16, 0x1.ff8p-15, 0x03ff}, {Float16, 0x1p-24, 1},
		{Float16, 0x1p-25, 0}, {Float16, 0x1.000002p-25, 1}, {Float16, 0x1.8p-24, 2}, {Float16, -0x1p-26, 0x8000},
		{Float16, 1 + 0x1p-11, 0x3c00}, {Float16, 1 + 0x3p-11, 0x3c02}, // ties go to the even one
		{Float16, 0x1.ffep-15, 0x0400}, // the largest subnormal and half a step: the smallest normal number
		{Float16, 1e-40, 0},
		{BFloat16, 1, 0x3f80}, {BFloat16, -2, 0xc000}, {BFloat16, 1.0 / 3, 0x3eab}, {BFloat16, math.MaxFloat32, 0x7f80},
		{BFloat16, 0x1.fep127, 0x7f7f}, {BFloat16, inf, 0x7f80}, {BFloat16, 1 + 0x1p-8, 0x3f80}, {BFloat16, 1 + 0x3p-8, 0x3f82},
		{BFloat16, 0x1p-126, 0x0080}, {BFloat16, 0x1p-133, 1}, {BFloat16, 0x1p-134, 0}, {BFloat16, 0x1.8p-133, 2}, {BFloat16, 1e-45, 0},
		{Int8, 0, 0}, {Int8, -1, 0xff}, {Int8, 127, 0x7f}, {Int8, 127.4, 0x7f}, {Int8, 300, 0x7f}, {Int8, -inf, 0x80}, {Int8, 2.5, 2}, {Int8, 3.5, 4},
		{Int4, -8, 8}, {Int4, 7, 7}, {Int4, 7.5, 7}, {Int4, -1, 15}, {Int4, -9, 8}, {Int4, 0.5, 0}, {Int4, float32(math.NaN()), 0},
		{E8M0, 1, 127}, {E8M0, -2, 128}, {E8M0, 0, 0}, {E8M0, 0x1p-127, 0}, {E8M0, 0x1.8p-127, 0}, {E8M0, 0x1.800004p-127, 1}, {E8M0, 0x1p-126, 1},
		{E8M0, 1.5, 128}, {E8M0, 1.499, 127}, {E8M0, 3, 128}, {E8M0, 0x1p127, 254}, {E8M0, math.MaxFloat32, 254}, {E8M0, inf, 254}, {E8M0, float32(math.NaN()), 255},
	} {
		l := layouts[k.Type]
		assert.Equal(t, k.code, l.encode(k.x), "%v of %v", k.Type, k.x)
	}
	for _, ty := range []Type{Float16, BFloat16} {
		code := layouts[ty].encode(math.Float32frombits(0x7f800001)) // a NaN with nothing in its upper bits
		assert.True(t, math.IsNaN(float64(layouts[ty].decode(code))), ty)
	}
}

// TestEveryCode: each number of a type is a float32, and comes back.
func TestEveryCode(t *testing.T) {
	quiet := map[Type]uint32{Float16: 0x200, BFloat16: 0x40} // the first bit of the fraction
	for _, ty := range Types[1:] {
		l := layouts[ty]
		for code := range uint32(1) << l.bits {
			x := l.decode(code)
			if x != x {
				assert.Equal(t, code|quiet[ty], l.encode(x), "%v %#x: a NaN comes back as a quiet one", ty, code)
				continue
			}
			assert.Equal(t, code, l.encode(x), "%v %#x is %v", ty, code, x)
		}
	}
}

// TestNearest: no other number of the type is nearer, and of two equally near ones the even
// one is taken.
func TestNearest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, ty := range Types[1:] {
		l := layouts[ty]
		for range 200000 {
			x := math.Float32frombits(random.Uint32())
			if ty == Float16 || ty == Int8 || ty == Int4 { // most floats are beyond these
				x = float32(math.Ldexp(random.Float64()*2-1, random.IntN(44)-27))
			}
			if a := math.Abs(float64(x)); x != x || a > largest(ty) {
				continue
			}
			if ty == E8M0 {
				x = float32(math.Abs(float64(x))) // it has no sign
			}
			code := l.encode(x)
			off := math.Abs(float64(l.decode(code)) - float64(x))
			for _, other := range []uint32{code - 1, code + 1} {
				other &= 1<<l.bits - 1
				away := math.Abs(float64(l.decode(other)) - float64(x))
				if away < off || away == off && code%2 == 1 {
					t.Fatalf("%v of %v is %#x, but %#x is nearer", ty, x, code, other)
				}
			}
		}
	}
}

// largest is the greatest number whose neighbours are numbers.
func largest(ty Type) float64 {
	return map[Type]float64{Float16: 65472, BFloat16: 0x1.fcp127, Int8: 126, Int4: 6, E8M0: 0x1p126}[ty]
}

func TestArraysOfEveryType(t *testing.T) {
	for _, ty := range Types {
		x, err := RandomAs(ty, Normal, 7, 1, 6, 10)
		require.NoError(t, err)
		b := ty.Encode(x.Data)
		assert.Len(t, b, 60*ty.Bits()/8)
		assert.Equal(t, x.Data, ty.Decode(b), ty)
		part := make([]float32, 20)
		require.NoError(t, FillAs(ty, part, Normal, 7, 1, 30))
		assert.Equal(t, x.Data[30:50], part)
	}
	assert.Equal(t, []byte{0x21, 0x0f}, Int4.Encode([]float32{1, 2, -1}), "the first in the low half")
	assert.ErrorContains(t, FillAs("float8", nil, Normal, 1, 1, 0), "float8")
	for _, ty := range Types {
		bits, ok := ty.Unwritten()
		assert.Equal(t, ty != Int8 && ty != Int4, ok)
		if ok {
			assert.Equal(t, bytes.Repeat([]byte{0xff}, ty.Bits()/8), ty.Encode([]float32{math.Float32frombits(bits)}))
		}
	}
}

// TestIntegersFillTheirRange: a normal number becomes one of many.
func TestIntegersFillTheirRange(t *testing.T) {
	for ty, most := range map[Type]float32{Int8: 127, Int4: 7} {
		x, err := RandomAs(ty, Normal, 1, 1, 1<<14)
		require.NoError(t, err)
		seen := map[float32]bool{}
		for _, v := range x.Data {
			seen[v] = true
			assert.True(t, v >= -most-1 && v <= most && v == float32(int(v)))
		}
		assert.Greater(t, len(seen), int(1.7*most))
	}
}
