package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
)

var float6 = [2]tiny{{fraction: 3, bias: 1, largest: 0x1f}, {fraction: 2, bias: 3, largest: 0x1f}} // e2m3, e3m2

// toward is the code of x in one of CUDA's directions: nearest, zero, up, down.
func (f tiny) toward(x float64, direction int) int {
	if x != x {
		return f.largest
	}
	size, sign := math.Abs(x), 0
	if math.Signbit(x) {
		sign = f.largest + 1
	}
	below, above := 0, f.largest
	for code := range f.largest + 1 {
		if f.value(code) <= size {
			below = code
		} else {
			above = min(above, code)
		}
	}
	switch {
	case direction == 0:
		return sign | f.nearest(size)
	case f.value(below) == size, direction == 1, (direction == 2) == (sign != 0):
		return sign | below
	}
	return sign | above
}

// signed is the value of a code with its sign.
func (f tiny) signed(code int) float64 {
	if code > f.largest {
		return -f.value(code & f.largest)
	}
	return f.value(code)
}

// sixBitTies is every number of both formats and every middle of two, with what lies just beside them, and extremes.
func sixBitTies(beside func(x float64, up bool) float64) []float64 {
	x := []float64{0, 5e-324, 1e-30, 0x1p-149, 0x1p-6, 7.75, 8, 29, 30, 32, 65504, 1e30, math.MaxFloat32, math.Inf(1), math.NaN()}
	for _, f := range float6 {
		for code := range f.largest + 1 {
			for _, v := range []float64{f.value(code), (f.value(code) + f.value(code+1)) / 2} {
				x = append(x, v, beside(v, false), beside(v, true))
			}
		}
	}
	for _, v := range x[:len(x):len(x)] {
		x = append(x, -v)
	}
	return x
}

// testFloat6Rounding compares what a kernel made of x: 8 codes each, four directions of e2m3 and of e3m2.
func testFloat6Rounding(b bench, from string, x float64, got []uint8) {
	for k, code := range got {
		if want := float6[k/4].toward(x, k%4); int(code) != want {
			require.Fail(b.t, from, "%v in format %d and direction %d: got %#02x, want %#02x", x, k/4, k%4, code, want)
		}
	}
}

func testFloat6FromNumbers(b bench) {
	var x []float32
	for _, v := range sixBitTies(func(x float64, up bool) float64 {
		if up {
			return float64(math.Nextafter32(float32(x), float32(math.Inf(1))))
		}
		return float64(math.Nextafter32(float32(x), float32(math.Inf(-1))))
	}) {
		x = append(x, float32(v))
	}
	y := alloc[uint8](b, "y", 8*len(x))
	b.launch("from_floats", len(x), upload(b, "x", x), y, len(x))
	got := download(b, y)
	for i, v := range x {
		testFloat6Rounding(b, "float", float64(v), got[8*i:8*i+8])
	}
	// A double just beside a tie must not be rounded to float first.
	d := sixBitTies(func(x float64, up bool) float64 {
		if up {
			return math.Nextafter(x, math.Inf(1))
		}
		return math.Nextafter(x, math.Inf(-1))
	})
	z := alloc[uint8](b, "z", 8*len(d))
	b.launch("from_doubles", len(d), upload(b, "d", d), z, len(d))
	got = download(b, z)
	for i, v := range d {
		testFloat6Rounding(b, "double", v, got[8*i:8*i+8])
	}
}

// Every half, and every bfloat16.
func testFloat6FromSmall(b bench) {
	const n = 1 << 16
	y := alloc[uint8](b, "y", 16*n)
	b.launch("from_small", n, y, n)
	got := download(b, y)
	for code := range n {
		for k, f := range []*format{half16, bfloat16} {
			testFloat6Rounding(b, "half or bfloat16", f.value(uint16(code)), got[16*code+8*k:16*code+8*k+8])
		}
	}
}

// Numbers that a half and a bfloat16 hold, too: so all of a structure's constructors agree.
func testFloat6Structures(b bench) {
	var x []float32
	for i := range 256 {
		x = append(x, float32(i)/32, -float32(i)/8, float32(255-i)/4, float32(i-128)/16)
	}
	y := alloc[uint32](b, "y", 20*256)
	b.launch("constructed", 256, upload(b, "x", x), y, 256)
	for i, got := range download(b, y) {
		f, want := float6[i/10%2], uint32(0)
		for k, v := range x[i/20*4:][:4] {
			v := float64(v)
			if i%10 == 9 { // from integers
				v = math.Trunc(v) + 0
			}
			if i%10 == 9 && k == 3 {
				v = math.Abs(v)
			}
			want |= uint32(f.toward(v, 0)) << (8 * k)
		}
		require.Equal(b.t, want, got, "constructor %d of format %d from %v", i%10, i/10%2, x[i/20*4:][:4])
	}
}

func testFloat6Widened(b bench) {
	y := alloc[float32](b, "y", 40*256)
	b.launchShape("widened", device.Launch{Grid: device.D1(1), Block: device.D1(256)}, y)
	for i, got := range download(b, y) {
		f, code := float6[i/20%2], i/40&0x3f
		want := f.signed(code)
		switch k := i % 20; {
		case k >= 11 && k < 16: // the neighbour in a pair
			want = f.signed(code ^ 1)
		case k == 19:
			want = min(1, math.Ceil(math.Abs(want)))
		case k >= 16: // integers have no -0, and unsigned ones nothing below
			want = math.Trunc(want) + 0
			if k == 18 {
				want = max(want, 0)
			}
		}
		require.Equal(b.t, math.Float32bits(float32(want)), math.Float32bits(got), "code %#02x of format %d, way %d: %v", i/40, i/20%2, i%20, got)
	}
}

func TestSixBits(t *testing.T) {
	withModule(t, "float6.cu", func(b bench) {
		testFloat6FromNumbers(b)
		testFloat6FromSmall(b)
		testFloat6Structures(b)
		testFloat6Widened(b)
	})
}
