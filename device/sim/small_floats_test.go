package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func everyCode() []uint16 {
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	return all
}

func testWiden(b bench) {
	x, z := upload(b, "x", everyCode()), alloc[float32](b, "z", 1<<16)
	y := alloc[float32](b, "y", 1<<16)
	b.launch("widen", 1<<16, x, x, y, z, 1<<16)
	wide, wideB := download(b, y), download(b, z)
	for code := range 1 << 16 {
		want := float32(half16.value(uint16(code)))
		if want != want {
			require.Equal(b.t, uint32(0x7fffffff), math.Float32bits(wide[code]), "half %#04x", code)
		} else {
			require.Equal(b.t, math.Float32bits(want), math.Float32bits(wide[code]), "half %#04x", code)
		}
		require.Equal(b.t, uint32(code)<<16, math.Float32bits(wideB[code]), "bfloat16 %#04x", code)
	}
}

// everyTie is every number of both formats, the middles between neighbours, and
// what lies just beside them.
func everyTie() []float32 {
	var all []float32
	for _, f := range []*format{half16, bfloat16} {
		for i, v := range f.values {
			next := f.beyond
			if i+1 < len(f.values) {
				next = f.values[i+1]
			}
			middle := float32(v + (next-v)/2)
			all = append(all, float32(v), middle, -middle,
				math.Nextafter32(middle, 0), math.Nextafter32(middle, float32(math.Inf(1))),
				math.Nextafter32(float32(v), 0), -math.Nextafter32(float32(v), float32(math.Inf(1))))
		}
	}
	return append(all, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), float32(math.Copysign(0, -1)), math.MaxFloat32)
}

func testNarrow(b bench) {
	values := everyTie()
	n := len(values)
	y, z := alloc[uint16](b, "y", 4*n), alloc[uint16](b, "z", 4*n)
	b.launch("narrow", n, upload(b, "x", values), y, z, n)
	got, gotB := download(b, y), download(b, z)
	for i, v := range values {
		for d := nearest; d <= downward; d++ {
			at := 4*i + int(d)
			if want := half16.round(float64(v), d); got[at] != want {
				require.Fail(b.t, "half", "%v in direction %d: got %#04x, want %#04x", v, d, got[at], want)
			}
			if want := bfloat16.round(float64(v), d); gotB[at] != want {
				require.Fail(b.t, "bfloat16", "%v in direction %d: got %#04x, want %#04x", v, d, gotB[at], want)
			}
		}
	}
}

// A double just beside a tie must not be rounded to float first.
func testNarrowDouble(b bench) {
	var values []float64
	for _, f := range []*format{half16, bfloat16} {
		for i := 1; i+1 < len(f.values); i += 7 {
			middle := (f.values[i] + f.values[i+1]) / 2
			values = append(values, middle, middle*(1+1e-15), -middle*(1-1e-15))
		}
	}
	values = append(values, math.MaxFloat64, 5e-324, math.NaN(), math.Inf(-1))
	n := len(values)
	y, z := alloc[uint16](b, "y", n), alloc[uint16](b, "z", n)
	b.launch("narrow_double", n, upload(b, "x", values), y, z, n)
	got, gotB := download(b, y), download(b, z)
	for i, v := range values {
		require.Equal(b.t, half16.round(v, nearest), got[i], "half of %v", v)
		require.Equal(b.t, bfloat16.round(v, nearest), gotB[i], "bfloat16 of %v", v)
	}
}

// operands: half of them any codes, half near 1 with a tiny third, where a
// product that is a tie would be rounded twice.
func operands(f *format, n int) (a, b, c []uint16) {
	r := rand.New(rand.NewPCG(1, 2))
	one := f.round(1, nearest)
	for i := range n {
		if i%2 == 0 {
			a, b, c = append(a, uint16(r.Uint32())), append(b, uint16(r.Uint32())), append(c, uint16(r.Uint32()))
			continue
		}
		near := uint16(r.Uint32N(uint32(one / 40)))
		a, b = append(a, one+near), append(b, one+uint16(r.Uint32N(256)))
		c = append(c, uint16(r.Uint32N(uint32(one)))|uint16(r.Uint32()&0x8000))
	}
	return a, b, c
}

func testOperations(b bench, kernel string, f *format) {
	const n = 1 << 13
	x, y, z := operands(f, n)
	results, relations := alloc[uint16](b, "results", 16*n), alloc[uint32](b, "relations", n)
	b.launch(kernel, n, upload(b, "a", x), upload(b, "b", y), upload(b, "c", z), results, relations, n)
	got, holds := download(b, results), download(b, relations)
	for i := range n {
		want, relation := f.expect(x[i], y[i], z[i])
		require.Equal(b.t, want, [16]uint16(got[16*i:]), "%s of %#04x, %#04x, %#04x", kernel, x[i], y[i], z[i])
		require.Equal(b.t, relation, holds[i], "relations of %#04x and %#04x", x[i], y[i])
	}
}

// expect is what the kernels' operations should give.
func (f *format) expect(x, y, z uint16) (results [16]uint16, relations uint32) {
	a, b, c := f.value(x), f.value(y), f.value(z)
	round := func(v float64) uint16 { return f.round(v, nearest) }
	nan := a != a || b != b
	larger, smaller := math.Max(a, b), math.Min(a, b)
	if a != a {
		larger, smaller = b, b
	} else if b != b {
		larger, smaller = a, a
	}
	fma, saturated := f.fma(a, b, c), math.Min(math.Max(a+b, 0), 1)
	if a+b != a+b || a+b == 0 {
		saturated = 0
	}
	relu := fma
	if fma != notANumber && fma&0x8000 != 0 {
		relu = 0
	}
	larger16 := round(larger)
	if nan {
		larger16 = notANumber
	}
	results = [16]uint16{round(a + b), round(a - b), round(a * b), round(a / b), fma, round(larger), round(smaller), x ^ 0x8000,
		x & 0x7fff, round(math.Sqrt(a)), round(1 / b), larger16, round(math.Floor(a)), round(math.RoundToEven(a)), round(saturated), relu}
	for i, holds := range []bool{a < b, a <= b, a > b, a >= b, a == b, a != b, a < b || nan, a == b || nan, a != b && !nan, a != a, math.IsInf(a, 0)} {
		if holds {
			relations |= 1 << i
		}
	}
	return results, relations
}

func testHalfIntegers(b bench) {
	codes := everyCode()
	r := rand.New(rand.NewPCG(3, 4))
	numbers := make([]int32, len(codes))
	for i := range numbers {
		numbers[i] = int32(r.Uint32()) >> r.UintN(32)
	}
	y, z := alloc[int32](b, "y", 4*len(codes)), alloc[uint16](b, "z", 4*len(codes))
	b.launch("half_integers", len(codes), upload(b, "x", codes), y, upload(b, "v", numbers), z, len(codes))
	whole, back := download(b, y), download(b, z)
	for i, code := range codes {
		v := half16.value(code)
		for d, f := range []func(float64) float64{math.RoundToEven, math.Trunc, math.Ceil, math.Floor} {
			want := int32(0)
			switch {
			case math.IsInf(v, 1):
				want = math.MaxInt32
			case math.IsInf(v, -1):
				want = math.MinInt32
			case v == v:
				want = int32(f(v))
			}
			require.Equal(b.t, want, whole[4*i+d], "half %v to int, direction %d", v, d)
			require.Equal(b.t, half16.round(float64(numbers[i]), direction(d)), back[4*i+d], "%d to half, direction %d", numbers[i], d)
		}
	}
}

// testPairs: 64 half2, staged in dynamic shared memory, turned round, and combined.
func testPairs(b bench) {
	require.NoError(b.t, b.d.Reset())
	codes := make([]uint16, 128)
	for i := range codes {
		codes[i] = half16.round(float64(i)/4, nearest)
	}
	y := alloc[uint16](b, "y", 128)
	r := b.launchShape("pairs", device.Launch{Grid: device.D1(1), Block: device.D1(64), Shared: 256}, upload(b, "x", codes), y)
	got := download(b, y)
	value := func(t int) float64 { // both halves become 2·x + 1 - y + 1
		x, y := half16.value(codes[2*(63-t)]), half16.value(codes[2*(63-t)+1])
		return 2*x + 1 - y + 1
	}
	for t := range 64 {
		want := half16.round(math.Max(value(t), value(t^1)), nearest)
		assert.Equal(b.t, want, got[2*t], "pair %d", t)
		assert.Equal(b.t, want, got[2*t+1], "pair %d", t)
	}
	c := r.Launches[0]
	// Two warps, 4 bytes a lane: one request of 128 bytes each.
	assert.Equal(b.t, []uint64{256, 256, 8, 8, 4}, []uint64{c.GlobalRead, c.GlobalWritten, c.SectorsRead, c.SectorsWritten, c.GlobalRequests})
	assert.Equal(b.t, []uint64{512, 512}, []uint64{c.SharedWritten, c.SharedRead})
	assert.Equal(b.t, c.SharedRequests, c.SharedPasses, "no bank conflicts")
	if !b.d.compiler.clang { // clang++ may move an addition before its block's hook (flops.go)
		assert.Equal(b.t, uint64(64*(4+2)), c.FLOPs, "__hfma2 and one addition of pairs")
	}
}

func testHalfAtomics(b bench) {
	sum, y := upload(b, "sum", []uint16{0}), alloc[float32](b, "y", 2)
	b.launchShape("half_atomics", device.Launch{Grid: device.D1(1), Block: device.D1(128)}, sum, y)
	assert.Equal(b.t, []float32{128, 256}, download(b, y))
	assert.Equal(b.t, 128.0, half16.value(download(b, sum)[0]))
}

func testHalfImplicit(b bench) {
	first := make([]float32, 7)
	first[6] = math.Float32frombits(0x4200) // as a half: 3
	y := upload(b, "y", first)
	b.launch("half_implicit", 1, y)
	assert.Equal(b.t, []float32{0.875, 7, 2, 25, -1.875, 2, 3}, download(b, y))
}

func TestSmallFloats(t *testing.T) {
	withModule(t, "small_floats.cu", func(b bench) {
		testWiden(b)
		testNarrow(b)
		testNarrowDouble(b)
		testOperations(b, "half_operations", half16)
		testOperations(b, "bfloat16_operations", bfloat16)
		testHalfIntegers(b)
		testPairs(b)
		testHalfAtomics(b)
		testHalfImplicit(b)
	})
}
