package sim

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var bigModes = [4]big.RoundingMode{big.ToNearestEven, big.ToZero, big.ToPositiveInf, big.ToNegativeInf}

// toFloat32 rounds an exact number to a float in one direction.
func toFloat32(exact *big.Float, d direction) float32 {
	if exact.Sign() == 0 {
		return 0
	}
	v, _ := new(big.Float).SetMode(bigModes[d]).SetPrec(24).Set(exact).Float32()
	return v
}

func bigOf(v float32) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(float64(v)) }

func bigRoot(v *big.Float) *big.Float { return new(big.Float).SetPrec(600).Sqrt(v) }

func bigNew() *big.Float { return new(big.Float).SetPrec(600) }

func testDirections(b bench) {
	const n = 2000
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]float32, 3*n)
	for i := range x {
		x[i] = math.Float32frombits(r.Uint32()&0x807fffff | (127-20+r.Uint32N(40))<<23)
	}
	y := alloc[float32](b, "y", 32*n)
	b.launch("directions", n, upload(b, "x", x), y, n)
	got := download(b, y)
	for i := range n {
		u, v, w := bigOf(x[3*i]), bigOf(x[3*i+1]), bigOf(x[3*i+2])
		product := bigNew().Mul(u, v)
		exact := []*big.Float{bigNew().Add(u, v), bigNew().Sub(u, v), product, bigNew().Quo(u, v),
			bigNew().Add(product, w), bigNew().Quo(bigOf(1), v), bigRoot(bigNew().Abs(u)),
			bigNew().SetFloat64(float64(x[3*i]) * (1 + float64(x[3*i+1])*1e-9))}
		for d := nearest; d <= downward; d++ {
			for k, e := range exact {
				require.Equal(b.t, toFloat32(e, d), got[32*i+8*int(d)+k], "operation %d, direction %d, of %v", k, d, x[3*i:3*i+3])
			}
		}
	}
}

func testToIntegers(b bench) {
	x := []float32{0, 0.5, 1.5, -0.5, -1.5, 2.5, 1e6 + 0.5, -3.75, 2147483648, -2147483648, 3e9, -3e9, 4294967296, 1e19, -1e19, 3e19,
		float32(math.Inf(1)), float32(math.Inf(-1)), 16777215.5, 9.2e18}
	n := len(x)
	i, u := alloc[int32](b, "i", 8*n), alloc[uint32](b, "u", 4*n)
	l, w := alloc[int64](b, "l", 4*n), alloc[uint64](b, "w", 4*n)
	b.launch("to_integers", n, upload(b, "x", x), i, u, l, w, n)
	gi, gu, gl, gw := download(b, i), download(b, u), download(b, l), download(b, w)
	for t, v := range x {
		for d, round := range []func(float64) float64{math.RoundToEven, math.Trunc, math.Ceil, math.Floor} {
			whole := round(float64(v))
			want := int32(max(math.MinInt32, min(math.MaxInt32, whole)))
			require.Equal(b.t, []int32{want, want}, gi[8*t+2*d:8*t+2*d+2], "int of %v, direction %d", v, d)
			require.Equal(b.t, uint32(max(0, min(math.MaxUint32, whole))), gu[4*t+d], "unsigned of %v, direction %d", v, d)
			wantLong, wantWide := int64(math.MaxInt64), uint64(math.MaxUint64)
			if whole < 0x1p63 {
				wantLong = int64(max(-0x1p63, whole))
			}
			if whole < 0x1p64 {
				wantWide = uint64(max(0, whole))
			}
			require.Equal(b.t, wantLong, gl[4*t+d], "long long of %v, direction %d", v, d)
			require.Equal(b.t, wantWide, gw[4*t+d], "unsigned long long of %v, direction %d", v, d)
		}
	}
}

func testToFloats(b bench) {
	r := rand.New(rand.NewPCG(9, 10))
	x := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1<<24 + 1, 1<<54 + 1<<30 + 1, -(1<<54 + 1<<30 + 1), 1<<54 + 1<<30}
	for range 1000 {
		x = append(x, int64(r.Uint64())>>r.UintN(60))
	}
	y := alloc[float32](b, "y", 16*len(x))
	b.launch("to_floats", len(x), upload(b, "x", x), y, len(x))
	got := download(b, y)
	for i, v := range x {
		exact := []*big.Float{bigNew().SetInt64(int64(int32(v))), bigNew().SetInt64(int64(uint32(v))), bigNew().SetInt64(v), bigNew().SetUint64(uint64(v))}
		for d := nearest; d <= downward; d++ {
			for k, e := range exact {
				require.Equal(b.t, toFloat32(e, d), got[16*i+4*int(d)+k], "form %d, direction %d, of %d", k, d, v)
			}
		}
	}
}

func testFunctions(b bench) {
	x := []float32{0.01, 0.25, 0.5, 0.75, 0.9, 0.999, 1.25, 1.9, 2.5, 7.75, -0.3, -0.99, 1e-6, 1e-20, 12.5}
	y := alloc[float32](b, "y", 32*len(x))
	b.launch("functions", len(x), upload(b, "x", x), y, len(x))
	got := download(b, y)
	for i, narrow := range x {
		v := float64(narrow)
		want := []float64{1 / math.Sqrt(v), 1 / math.Cbrt(v), math.Sin(math.Pi * v), math.Cos(math.Pi * v), math.Erfinv(v), math.Erfcinv(v),
			math.Exp(v*v) * math.Erfc(v), math.Erfc(-v/math.Sqrt2) / 2, -math.Sqrt2 * math.Erfcinv(2*v), math.Sqrt(v*v + 13), 1 / math.Hypot(v, 1),
			math.Exp(v), math.Log(v), math.Pow(v, 1.5), math.Sin(v), math.Cos(v), v / 3, max(0, min(1, v)), 1 / math.Sqrt(v),
			math.Pow(10, v), math.Sqrt(v*v + 14), math.Erfc(-v/math.Sqrt2) / 2, 1 / math.Sqrt(v), math.Sin(math.Pi*v) + math.Cos(math.Pi*v),
			math.Tan(v), math.Log10(v), math.Erfinv(v), math.Pi + math.Ln2*v}
		for k, w := range want {
			g := float64(got[32*i+k])
			if math.IsNaN(w) {
				assert.True(b.t, math.IsNaN(g), "function %d of %v: got %v, want NaN", k, v, g)
				continue
			}
			// The fast ones lose digits in the product with log2(e); 1e-5 finds a
			// wrong formula, not a wrong last bit.
			assert.InDelta(b.t, w, g, 1e-5*max(math.Abs(w), 0.1), "function %d of %v", k, v)
		}
	}
}

func testExtremes(b bench) {
	nan, zero := float32(math.NaN()), float32(0)
	x := []float32{zero, -zero, 1, -1, nan, float32(math.Inf(1)), float32(math.Inf(-1)), 3, float32(math.Copysign(0, -1)), 0x1p127}
	n := len(x)
	y := alloc[float32](b, "y", 4*n*n)
	b.launch("extremes", n*n, upload(b, "x", x), y, n)
	got := download(b, y)
	for i := range n * n {
		u, v := x[i/n], x[i%n]
		larger, smaller, quotient := max(u, v), min(u, v), u/v
		if u != u {
			larger, smaller = v, v
		} else if v != v {
			larger, smaller = u, u
		}
		if v == 0x1p127 { // beyond 2^126 the reciprocal is 0
			quotient = u * 0
		}
		for k, want := range []float32{larger, smaller, larger, quotient} {
			g := got[4*i+k]
			same := math.Float32bits(want) == math.Float32bits(g) || want != want && g != g
			assert.True(b.t, same, "result %d of %v and %v: got %v, want %v", k, u, v, g, want)
		}
	}
}

func testIntegers(b bench) {
	const n = 500
	r := rand.New(rand.NewPCG(11, 12))
	x := make([]uint32, 2*n)
	for i := range x {
		x[i] = r.Uint32() >> r.UintN(20)
	}
	y := alloc[uint32](b, "y", 32*n)
	b.launch("integers", n, upload(b, "x", x), y, n)
	got := download(b, y)
	for i := range n {
		require.Equal(b.t, expectIntegers(x[2*i], x[2*i+1]), [32]uint32(got[32*i:]), "%#x, %#x", x[2*i], x[2*i+1])
	}
}

func expectIntegers(a, b uint32) [32]uint32 {
	wide, both, shift := uint64(a)<<32|uint64(b), uint64(b)<<32|uint64(a), b&63
	byteOf := func(n int) uint32 { return uint32(both>>(8*n)) & 0xff }
	sign := func(n int) uint32 { return uint32(int32(int8(byteOf(n))) >> 31 & 0xff) }
	lower, upper := uint32(both<<(shift&31)>>32), uint32(both>>(shift&31))
	dotU, dotS := uint32(7), int32(7)
	for k := range 4 {
		dotU += a >> (8 * k) & 0xff * (b >> (8 * k) & 0xff)
		dotS += int32(int8(a>>(8*k))) * int32(int8(b>>(8*k)))
	}
	clampedL, clampedR := lower, upper
	if shift >= 32 {
		clampedL, clampedR = a, b
	}
	firstSet := func(v uint64) uint32 {
		if v == 0 {
			return 0
		}
		return uint32(bits.TrailingZeros64(v)) + 1
	}
	signedHigh := new(big.Int).Rsh(new(big.Int).Mul(big.NewInt(int64(wide)), big.NewInt(int64(b)<<20)), 64)
	wideHigh, _ := bits.Mul64(wide, wide)
	difference := int64(int32(a)) - int64(int32(b))
	sum := int64(int32(a)) + int64(int32(b))
	low24 := func(v uint32) int32 { return int32(v<<8) >> 8 }
	return [32]uint32{bits.Reverse32(a), uint32(bits.Reverse64(wide) >> 32),
		byteOf(5) | byteOf(1)<<8 | byteOf(7)<<16 | byteOf(3)<<24,
		byteOf(0) | byteOf(4)<<8 | sign(4)<<16 | sign(0)<<24,
		lower, upper, clampedL, clampedR,
		uint32(bits.LeadingZeros32(a)), uint32(bits.LeadingZeros64(wide)), firstSet(uint64(a)), firstSet(uint64(b) << 32),
		uint32(bits.OnesCount32(a)), uint32(bits.OnesCount64(wide)), dotU, uint32(dotS),
		uint32(uint64(int64(int32(a))*int64(int32(b))) >> 32), uint32(uint64(a) * uint64(b) >> 32),
		uint32(signedHigh.Int64()), uint32(wideHigh), uint32(low24(a) * low24(b)), (a & 0xffffff) * (b & 0xffffff),
		uint32(max(difference, -difference)) + 5, max(a, b) - min(a, b) + 5,
		uint32(sum >> 1), uint32((sum + 1) >> 1), uint32((uint64(a) + uint64(b)) >> 1),
		uint32(3 + int32(int16(a))*int32(int8(b)) + int32(int16(a>>16))*int32(int8(b>>8))),
		min(a, b) ^ uint32(max(int32(a), int32(b))), uint32(max(int32(a)>>1, -(int32(a) >> 1))),
		a & 0x7f7fffff, a&0x7fefffff ^ b}
}

func TestIntrinsics(t *testing.T) {
	withModule(t, "intrinsics.cu", func(b bench) {
		testDirections(b)
		testToIntegers(b)
		testToFloats(b)
		testFunctions(b)
		testExtremes(b)
		testIntegers(b)
	})
}
