package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func TestNarrow(t *testing.T) {
	withModule(t, "narrow.cu", func(b bench) {
		testNarrowNumbers(b)
		testPackedWords(b)
		testOtherProducts(b)
		testGroupsOfLanes(b)
	})
}

// tiny is a format of few bits, by its definition.
type tiny struct{ fraction, bias, largest int }

var e4m3, e5m2, e2m1 = tiny{3, 7, 0x7e}, tiny{2, 15, 0x7b}, tiny{1, 1, 7}

func (f tiny) value(code int) float64 {
	exponent, fraction := code>>f.fraction, float64(code&(1<<f.fraction-1))/float64(int(1)<<f.fraction)
	if exponent == 0 {
		return math.Ldexp(fraction, 1-f.bias)
	}
	return math.Ldexp(1+fraction, exponent-f.bias)
}

// nearest searches all codes; of two as near it takes the even one.
func (f tiny) nearest(x float64) int {
	if x >= f.value(f.largest) {
		return f.largest
	}
	x = min(x, f.value(f.largest)) // far beyond, all are as near to a float64
	best := 0
	for code := range f.largest + 1 {
		d, so := math.Abs(f.value(code)-x), math.Abs(f.value(best)-x)
		if d < so || d == so && code%2 == 0 {
			best = code
		}
	}
	return best
}

// beyond is from where on a size no longer rounds to the largest.
func (f tiny) beyond(x float64) bool {
	top, next := f.value(f.largest), f.value(f.largest+1)
	half := (top + next) / 2
	return x > half || x == half && f.largest%2 == 1
}

func testNarrowNumbers(b bench) {
	t := b.t
	x := []float32{0, 1, 448, 464, 465, 480, 57344, 61439, 61440, 6, 7, 0.25, 0.75, 1.25, 5, float32(math.Inf(1)), 0x1p-10, 0x1.8p-10, 0x1p-17, 0x1.8p-17, 1e-30, 1e30}
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		x = append(x, float32(math.Ldexp(1+r.Float64(), r.IntN(40)-20)), float32(r.IntN(1000))/16)
	}
	for _, v := range x[:len(x):len(x)] {
		x = append(x, -v)
	}
	n := len(x)
	y := alloc[uint8](b, "y", 5*n)
	b.launchShape("narrowed", device.Launch{Grid: device.D1((n + 255) / 256), Block: device.D1(256)}, upload(b, "x", x), y, n)
	for i, got := range download(b, y) {
		v := float64(x[i/5])
		size, sign := math.Abs(v), 0x80
		if i%5 == 4 {
			sign = 8
		}
		if !math.Signbit(v) {
			sign = 0
		}
		format := []tiny{e4m3, e5m2, e4m3, e5m2, e2m1}[i%5]
		want := format.nearest(size)
		if i%5 == 2 && format.beyond(size) {
			want = 0x7f
		} else if i%5 == 3 && format.beyond(size) {
			want = 0x7c
		}
		require.Equal(t, sign|want, int(got), "%v in form %d", v, i%5)
	}
	wide := alloc[float32](b, "wide", 3*256)
	b.launch("widened", 256, wide)
	for i, got := range download(b, wide) {
		format, bits := []tiny{e4m3, e5m2, e2m1}[i/256], []int{7, 7, 3}[i/256]
		code := i % 256 & (1<<bits - 1)
		want := format.value(code)
		switch {
		case i/256 == 0 && code == 0x7f, i/256 == 1 && code > 0x7c:
			assert.True(t, got != got, "code %x", code)
			continue
		case i/256 == 1 && code == 0x7c:
			want = math.Inf(1)
		}
		if i>>bits&1 == 1 {
			want = -want
		}
		assert.Equal(t, float32(want), got, "code %x of %d", i%256, i/256)
	}
}

func testPackedWords(b bench) {
	t := b.t
	r := rand.New(rand.NewPCG(5, 6))
	a, c := make([]uint32, 256), make([]uint32, 256)
	for i := range a {
		a[i], c[i] = r.Uint32(), r.Uint32()
		if i%4 == 0 {
			a[i], c[i] = 0x80007fff, []uint32{0x7f80ff80, 0x80017fff}[i/4%2]
		}
	}
	clamp := func(v, low, high int) int { return min(max(v, low), high) }
	if1 := func(p bool, v int) int {
		if p {
			return v
		}
		return 0
	}
	abs := func(v int) int { return max(v, -v) }
	type op struct {
		bits   int
		signed bool
		f      func(x, y int) int
	}
	ops := []op{
		{8, false, func(x, y int) int { return x + y }},
		{8, true, func(x, y int) int { return clamp(x-y, -128, 127) }},
		{8, false, func(x, y int) int { return min(x+y, 255) }},
		{8, false, func(x, y int) int { return abs(x - y) }},
		{8, true, func(x, y int) int { return if1(x > y, -1) }},
		{16, true, func(x, y int) int { return max(x, y) }},
		{8, true, func(x, y int) int { return abs(x - y) }},
		{8, false, func(x, y int) int { return (x + y + 1) / 2 }},
		{8, true, func(x, _ int) int { return -x }},
		{16, true, func(x, _ int) int { return min(abs(x), 32767) }},
		{16, false, func(x, y int) int { return if1(x == y, 1) }},
		{8, true, func(x, y int) int {
			return int(math.Floor(float64(x+y)/2 + 0.5*float64(if1((x+y)%2 != 0 && x+y > 0, 1))))
		}},
	}
	y := alloc[uint32](b, "y", 12*256)
	b.launch("packed", 256, upload(b, "a", a), upload(b, "b", c), y)
	for i, got := range download(b, y) {
		o, want := ops[i%12], uint32(0)
		for at := 0; at < 32; at += o.bits {
			part := func(w uint32) int {
				v := int(w >> at & (1<<o.bits - 1))
				if o.signed && v>>(o.bits-1) == 1 {
					v -= 1 << o.bits
				}
				return v
			}
			v := uint32(o.f(part(a[i/12]), part(c[i/12])))
			if i%12 == 6 { // the sum of all
				want += v
			} else {
				want |= v & (1<<o.bits - 1) << at
			}
		}
		require.Equal(t, want, got, "operation %d of %08x and %08x", i%12, a[i/12], c[i/12])
	}
	z := alloc[float32](b, "z", 5)
	b.launch("complex_numbers", 1, z)
	for i, want := range []float32{11, 2, 1, 2, 5} {
		assert.InDelta(t, want, download(b, z)[i], 1e-6)
	}
}

func testOtherProducts(b bench) {
	t := b.t
	r := rand.New(rand.NewPCG(7, 8))
	x, y := make([]uint8, 256), make([]uint8, 256)
	for i := range x {
		x[i], y[i] = uint8(r.IntN(256)), uint8(r.IntN(256))
	}
	c := alloc[int32](b, "c", 256)
	b.launch("bytes_product", 32, upload(b, "a", x), upload(b, "b", y), c)
	for i, got := range download(b, c) {
		want := int32(7)
		for k := range 16 {
			want += int32(int8(x[i/16*16+k])) * int32(int8(y[i%16*16+k]))
		}
		require.Equal(t, want, got, "element %d", i)
	}
	p, q := make([]float64, 32), make([]float64, 32)
	for i := range p {
		p[i], q[i] = r.NormFloat64(), r.NormFloat64()
	}
	e := alloc[float64](b, "e", 64)
	b.launch("double_product", 32, upload(b, "p", p), upload(b, "q", q), e)
	for i, got := range download(b, e) {
		want := 0.5
		for k := range 4 {
			want += p[i/8*4+k] * q[k*8+i%8]
		}
		require.InDelta(t, want, got, 1e-15*(1+math.Abs(want)), "element %d", i)
	}
}

func testGroupsOfLanes(b bench) {
	t := b.t
	x := upload(b, "x", counting(128))
	y := alloc[float32](b, "y", 64)
	b.launch("with_barrier", 64, x, y)
	in := counting(128)
	for i, got := range download(b, y) {
		require.Equal(t, in[63-i], got)
	}
	b.launch("with_pipeline", 64, x, y)
	for i, got := range download(b, y) {
		require.Equal(t, in[i]+in[64+i], got)
	}
	z, counts, all := alloc[float32](b, "z", 256), upload(b, "counts", make([]int32, 65)), upload(b, "all", make([]float32, 4))
	b.launch("groups_of_lanes", 64, z, counts, all)
	got := download(b, counts)
	for i := range 64 {
		want := 11 // of each warp's numbers are multiples of 3
		if i%3 == 0 {
			want = want*100 + want
		} else {
			want = 32 - want
		}
		require.Equal(t, int32(want), got[i], "lane %d", i)
	}
	assert.Equal(t, int32(128), got[64])
	assert.Equal(t, []float32{64, 128, 192, 256}, download(b, all))
	best := 0 // of t*7%32, in the first warp
	for i := range 32 {
		if i*7%32 > best*7%32 {
			best = i
		}
	}
	for i, v := range download(b, z) {
		t32 := i % 64
		want := []int{t32/32*32 + 30 + t32%2, t32%32/8*100 + t32%8, 1600 + t32%16, t32/32*32 + best}[i/64]
		require.Equal(t, float32(want), v, "z[%d]", i)
	}
	b.launch("one_warp_leaves", 64, y)
	assert.Equal(t, float32(31), download(b, y)[0])
}
