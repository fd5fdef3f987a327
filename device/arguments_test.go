package device

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func params(list string) Signature {
	return ScanKernels(`extern "C" __global__ void k(` + list + `) {}`)[0]
}

func floats(name string, addr uint64, n int64) Buffer[float32] {
	return Buffer[float32]{Memory{addr, 4 * n, name}}
}

func TestArgumentsAreLaidOut(t *testing.T) {
	type scale float32
	x := floats("x", 0x1000, 4)
	values, err := LayOut(params("float *x, int n, long long m, float f, double d, bool b, unsigned char c, size_t s, float g"),
		[]any{x, -1, int64(-2), 0.5, float32(0.25), true, uint8(255), uint64(math.MaxUint64), scale(2)})
	require.NoError(t, err)
	assert.Equal(t, []Value{
		{Size: 8, Bits: 0x1000}, {Size: 4, Bits: 0xffffffff}, {Size: 8, Bits: math.MaxUint64 - 1},
		{Size: 4, Bits: uint64(math.Float32bits(0.5))}, {Size: 8, Bits: math.Float64bits(0.25)},
		{Size: 1, Bits: 1}, {Size: 1, Bits: 255}, {Size: 8, Bits: math.MaxUint64}, {Size: 4, Bits: uint64(math.Float32bits(2))},
	}, values)
}

func TestLayOutTakesWhatItMadeBefore(t *testing.T) {
	sig := params("float *x, int n")
	values, err := LayOut(sig, []any{floats("x", 0x1000, 4), -1})
	require.NoError(t, err)
	again, err := LayOut(sig, []any{values[0], values[1]})
	require.NoError(t, err)
	assert.Equal(t, values, again)
	_, err = LayOut(sig, []any{values[0], values[0]})
	assert.EqualError(t, err, "launch k: argument 2 (int n): got 8 bytes, want an integer")
	_, err = LayOut(params("float4 v"), []any{Value{}})
	assert.ErrorIs(t, err, ErrLaunch)
}

func TestLayOutTakesIntegersUpToTheirLimits(t *testing.T) {
	for list, fits := range map[string][]any{
		"int n":                {math.MaxInt32, math.MinInt32, uint(7), int16(-3), false},
		"unsigned n":           {math.MaxUint32, 0, uint32(math.MaxUint32)},
		"long long n":          {math.MaxInt64, math.MinInt64},
		"unsigned long long n": {uint64(math.MaxUint64), 0},
		"short n":              {math.MaxInt16, math.MinInt16},
	} {
		for _, n := range fits {
			_, err := LayOut(params(list), []any{n})
			assert.NoError(t, err, "%s ← %v", list, n)
		}
	}
	for list, tooLarge := range map[string][]any{
		"int n":                {math.MaxInt32 + 1, math.MinInt32 - 1, uint32(math.MaxUint32), uint64(1) << 63},
		"unsigned n":           {math.MaxUint32 + 1, -1},
		"long long n":          {uint64(math.MaxInt64) + 1},
		"unsigned long long n": {-1},
		"short n":              {math.MaxUint16},
	} {
		for _, n := range tooLarge {
			_, err := LayOut(params(list), []any{n})
			assert.ErrorContains(t, err, "does not fit", "%s ← %v", list, n)
		}
	}
}

func TestLayOutSaysWhatIsWrong(t *testing.T) {
	x := floats("x", 0x1000, 4)
	for _, c := range []struct {
		list string
		arg  any
		want string
	}{
		{"float *x", 3, "launch k: argument 1 (float * x): got the integer 3, want a Buffer of float"},
		{"float *x", Buffer[float32]{}, "launch k: argument 1 (float * x): the buffer was never allocated"},
		{"float *x", (*Buffer[float32])(nil), "launch k: argument 1 (float * x): got nil, want a Buffer of float"},
		{"float *x", nil, "launch k: argument 1 (float * x): got nil, want a Buffer of float"},
		{"void *p", "text", "launch k: argument 1 (void * p): got a string, want a Buffer"},
		{"int *n", x, `launch k: argument 1 (int * n): the buffer "x" holds float, want int`},
		{"half *h", x, `launch k: argument 1 (half * h): the buffer "x" holds float, want half`},
		{"int n", x, `launch k: argument 1 (int n): got the buffer "x", want an integer`},
		{"int n", 1.5, "launch k: argument 1 (int n): got the float 1.5, want an integer"},
		{"float f", 1, "launch k: argument 1 (float f): got the integer 1, want a float, such as float32(1)"},
		{"float f", 1e300, "launch k: argument 1 (float f): 1e+300 does not fit in a float"},
		{"int n", -3_000_000_000, "launch k: argument 1 (int n): -3000000000 does not fit in 32 bits, signed"},
	} {
		_, err := LayOut(params(c.list), []any{c.arg})
		assert.EqualError(t, err, c.want)
		assert.ErrorIs(t, err, ErrLaunch)
	}
	_, err := LayOut(params("int n, int m"), []any{1})
	assert.EqualError(t, err, "launch k: got 1 arguments, the kernel takes 2: k(int n, int m)")
	_, err = LayOut(params("float4 v"), []any{1})
	assert.ErrorContains(t, err, "float4 v")
}

func TestLayOutLeavesUncheckedWhatItCannotKnow(t *testing.T) {
	x := floats("x", 0x1000, 4)
	words := Buffer[uint16]{Memory{0x2000, 8, "words"}}
	for list, arg := range map[string]any{
		"float4 *v": x, "void *p": x, "half *h": words, "__nv_bfloat16 *h": words, "float *x": &x,
	} {
		_, err := LayOut(params(list), []any{arg})
		assert.NoError(t, err, list)
	}
}

func TestCheckLaunch(t *testing.T) {
	info := Info{MaxThreads: 1024, MaxShared: 48 << 10}
	l, err := CheckLaunch("k", Launch{Grid: Dim{X: 4}, Block: Dim{X: 32}}, info)
	require.NoError(t, err)
	assert.Equal(t, Launch{Grid: D3(4, 1, 1), Block: D1(32)}, l)

	for _, good := range []Launch{
		{Grid: D3(math.MaxInt32, 65535, 65535), Block: D1(1024), Shared: 48 << 10},
		{Grid: D1(1), Block: D3(4, 4, 64)},
		{Grid: D2(1, 2), Block: D2(32, 32)},
		{Grid: D2(6, 4), Block: D1(32), Cluster: Dim{X: 2, Y: 4}},
	} {
		_, err := CheckLaunch("k", good, info)
		assert.NoError(t, err)
	}
	for _, bad := range []struct {
		launch Launch
		want   string
	}{
		{Launch{Block: D1(1)}, "grid 0×1×1 has no blocks: a division rounds down. Round up, (n + size - 1) / size"},
		{Launch{Grid: Dim{1, -1, 1}, Block: D1(1)}, "has no blocks"},
		{Launch{Grid: D1(math.MaxInt32 + 1), Block: D1(1)}, "at most"},
		{Launch{Grid: D2(1, 65536), Block: D1(1)}, "at most"},
		{Launch{Grid: D1(1)}, "block 0×1×1 has no threads"},
		{Launch{Grid: D1(1), Block: D1(2000)}, "a block holds 1024 at most"},
		{Launch{Grid: D1(1), Block: D2(64, 32)}, "2048 threads"},
		{Launch{Grid: D1(1), Block: D3(1, 1, 65)}, "64 in z"},
		{Launch{Grid: D1(1), Block: D3(1<<31, 1<<31, 1<<31)}, "a block holds"},
		{Launch{Grid: D1(1), Block: D1(1), Shared: 48<<10 + 1}, "49153 bytes"},
		{Launch{Grid: D1(1), Block: D1(1), Shared: -4}, "-4 bytes"},
		{Launch{Grid: D1(6), Block: D1(1), Cluster: D1(4)}, "grid 6×1×1 is no whole number of clusters of 4×1×1 blocks"},
		{Launch{Grid: D1(6), Block: D1(1), Cluster: Dim{Y: 2}}, "no whole number of clusters"},
		{Launch{Grid: D1(6), Block: D1(1), Cluster: D1(-2)}, "no whole number of clusters"},
		{Launch{Grid: D1(18), Block: D1(1), Cluster: D1(9)}, "8 in all is the most"},
	} {
		_, err := CheckLaunch("k", bad.launch, info)
		assert.ErrorContains(t, err, bad.want)
		assert.ErrorIs(t, err, ErrLaunch)
	}
}

func TestLayOutStructsHalvesAndNull(t *testing.T) {
	sig := Signature{Name: "k", Params: []Param{{Type: "Shape", Name: "s", Size: 32}, {Type: "half", Name: "h", Size: 2, Elem: "half"},
		{Type: "__nv_bfloat16", Name: "b", Size: 2, Elem: "__nv_bfloat16"}, {Type: "float *", Name: "x", Kind: Pointer, Size: 8, Elem: "float"}}}
	type shape struct {
		Kind  int8
		Scale float32
		At    [2]uint16
		Rows  float64
		There any
	}
	values, err := LayOut(sig, []any{shape{1, 2, [2]uint16{3, 4}, 5, floats("x", 0x1000, 4)}, 65520.0, float32(-1.5), Null})
	require.NoError(t, err)
	assert.Equal(t, []byte{1, 0, 0, 0, 0, 0, 0, 0x40, 3, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0x40, 0, 0x10, 0, 0, 0, 0, 0, 0}, values[0].More)
	assert.Equal(t, []byte{0, 0x7c}, values[1].More, "what rounds up to infinity")
	assert.Equal(t, []byte{0xc0, 0xbf}, values[2].More)
	assert.Equal(t, Value{Size: 8}, values[3])
	for bits := range 0x7c00 { // every half there is, and halfway to the next
		v := math.Ldexp(float64(bits&0x3ff), -24)
		if e := bits >> 10; e > 0 {
			v = math.Ldexp(float64(bits&0x3ff|0x400), e-25)
		}
		require.Equal(t, uint16(bits), narrowBits("half", v))
		require.Equal(t, uint16(bits)|1<<15, narrowBits("half", -v))
	}
	assert.Equal(t, uint16(0x3c00), narrowBits("half", 1+0x1p-11))
	assert.Equal(t, uint16(0x3c02), narrowBits("half", 1+3*0x1p-11))
	assert.Equal(t, uint16(0x3c01), narrowBits("half", 1+0x1p-11+0x1p-40), "rounded once")
	assert.Equal(t, uint16(0x7fc0), narrowBits("__nv_bfloat16", math.NaN()))
	for arg, want := range map[any]string{
		any(7):                  "got a int, whose size C does not share, want a Go struct of 32 bytes with the members of Shape",
		any([2]int32{1, 2}):     "got a [2]int32 of 8 bytes, and the kernel's Shape has 32",
		any(struct{ N *int }{}): "got a *int, whose size C does not share in the member N, want a Go struct of 32 bytes with the members of Shape",
	} {
		_, err := LayOut(sig, []any{arg, 1.0, 1.0, Null})
		assert.EqualError(t, err, "launch k: argument 1 (Shape s): "+want)
	}
}
