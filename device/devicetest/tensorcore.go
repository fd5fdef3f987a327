package devicetest

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/x448/float16"

	"flashlab/device"
)

//go:embed tensorcore.cu
var tensorCoreKernels string

// factor is a type that a tensor core multiplies: its codes fill registers of 32 bits.
type factor struct {
	name  string
	depth int // numbers in a row of a
	code  func(float32) uint32
}

var factors = []factor{
	{"half", 16, func(v float32) uint32 { return uint32(float16.Fromfloat32(v).Bits()) }},
	{"bfloat16", 16, func(v float32) uint32 { return math.Float32bits(v) >> 16 }},
	{"tf32", 8, math.Float32bits},
}

// register is the content of one register. The suite lays fragments out by the PTX ISA: with
// g = lane/4 and t = lane%4, register i of a holds row g + 8(i%2), register i of b column g, and both
// the numbers of place t + 4(i/2), or of b t + 4i, where a place is as many neighbours as a register
// holds.
func (f factor) register(at func(k int) float32, place int) uint32 {
	if f.depth == 8 {
		return f.code(at(place))
	}
	return f.code(at(2*place)) | f.code(at(2*place+1))<<16
}

// left lays out the registers of a [16, depth], and right those of b [depth, 8], both given by rows.
func (f factor) left(a []float32) []uint32 {
	var all []uint32
	for lane := range 32 {
		for i := range 4 {
			row := a[(lane/4+i%2*8)*f.depth:]
			all = append(all, f.register(func(k int) float32 { return row[k] }, lane%4+i/2*4))
		}
	}
	return all
}

func (f factor) right(b []float32) []uint32 {
	var all []uint32
	for lane := range 32 {
		for i := range 2 {
			all = append(all, f.register(func(k int) float32 { return b[k*8+lane/4] }, lane%4+i*4))
		}
	}
	return all
}

// sumAt is the place in d [16, 8] of a lane's element i.
func sumAt(lane, i int) int { return (lane/4+i/2*8)*8 + lane%4*2 + i%2 }

func someNumbers(r *rand.Rand, n int, draw func(*rand.Rand) float32) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = draw(r)
	}
	return all
}

// quarters are exact in every format, and so are the sums of their products.
func quarters(r *rand.Rand) float32 { return float32(r.IntN(33)-16) / 4 }

// scattered gives numbers of 8 bits, which all formats hold, over many powers of two.
func scattered(r *rand.Rand) float32 {
	return float32(r.IntN(511)-255) / 128 * float32(math.Ldexp(1, r.IntN(13)-8))
}

func tensorCores(t *testing.T, b bench) {
	if digits, isGPU := strings.CutPrefix(b.Info().Arch, "sm_"); isGPU {
		if n, err := strconv.Atoi(strings.TrimRight(digits, "abcdefghijklmnopqrstuvwxyz")); err == nil && n < 80 {
			t.Skipf("%s has no such instructions", b.Info().Arch)
		}
	}
	m, err := b.Compile(device.Source{Name: "tensorcore.cu", Text: tensorCoreKernels})
	require.NoError(t, err)
	b.module = m
	t.Run("Exact", func(t *testing.T) { multipliesExactly(t, b) })
	t.Run("Rounded", func(t *testing.T) { multipliesNearly(t, b) })
	t.Run("EveryHalf", func(t *testing.T) { takesEveryHalf(t, b) })
	t.Run("Loads", func(t *testing.T) { loadsMatrices(t, b) })
	t.Run("Rounds", func(t *testing.T) { roundsToTF32(t, b) })
}

// product runs one instruction for each block: a [blocks, 16, depth], b [blocks, depth, 8] and
// d [blocks, 16, 8] by rows.
func product(t *testing.T, b bench, f factor, kind int, left, right, sums []float32) []float32 {
	t.Helper()
	blocks := len(sums) / 128
	var fa, fb []uint32
	fd := make([]float32, len(sums))
	for block := range blocks {
		fa = append(fa, f.left(left[block*16*f.depth:])...)
		fb = append(fb, f.right(right[block*f.depth*8:])...)
		for i := range 128 {
			fd[block*128+i] = sums[block*128+sumAt(i/4, i%4)]
		}
	}
	a, bs, d := upload(t, b, "a", fa), upload(t, b, "b", fb), upload(t, b, "d", fd)
	b.launch(t, "multiply", device.Launch{Grid: device.D1(blocks), Block: device.D1(32)}, a, bs, d, kind)
	got := make([]float32, len(sums))
	for i, v := range download(t, b, d) {
		got[i/128*128+sumAt(i%128/4, i%4)] = v
	}
	return got
}

// cut leaves of a float what tf32 has: the tensor cores do not look at the rest.
func cut(v float32) float64 {
	return float64(math.Float32frombits(math.Float32bits(v) &^ 0x1fff))
}

// exactly is what float64 makes of one block, and the sum of the sizes of what it adds.
func exactly(depth int, left, right []float32, sum float32, row, column int) (value, size float64) {
	value, size = float64(sum), math.Abs(float64(sum))
	for k := range depth {
		p := cut(left[row*depth+k]) * cut(right[k*8+column])
		value, size = value+p, size+math.Abs(p)
	}
	return value, size
}

func multipliesExactly(t *testing.T, b bench) {
	r := rand.New(rand.NewPCG(1, 2))
	for kind, f := range factors {
		left, right := someNumbers(r, 16*f.depth, quarters), someNumbers(r, f.depth*8, quarters)
		sums := someNumbers(r, 128, quarters)
		if f.name == "tf32" {
			for i := range left {
				left[i] *= 1 + 0x1p-18 // below its last bit
			}
		}
		got := product(t, b, f, kind, left, right, sums)
		for i, v := range got {
			want, _ := exactly(f.depth, left, right, sums[i], i/8, i%8)
			require.Equal(t, want, float64(v), "%s: row %d, column %d", f.name, i/8, i%8)
		}
	}
}

// multipliesNearly leaves it to each device how a sum is rounded, and how often, but it must be in float32.
func multipliesNearly(t *testing.T, b bench) {
	const blocks = 20
	r := rand.New(rand.NewPCG(3, 4))
	for kind, f := range factors {
		left, right := someNumbers(r, blocks*16*f.depth, scattered), someNumbers(r, blocks*f.depth*8, scattered)
		before := someNumbers(r, blocks*128, scattered)
		got := product(t, b, f, kind, left, right, before)
		tellRounding(t, f, left, right, before, got)
		for i, v := range got {
			block, at := i/128, i%128
			want, size := exactly(f.depth, left[block*16*f.depth:], right[block*f.depth*8:], before[i], at/8, at%8)
			require.InDelta(t, want, v, size*0x1p-18, "%s: block %d, row %d, column %d", f.name, block, at/8, at%8)
		}
	}
}

// takesEveryHalf multiplies every finite half, subnormal ones included, by one.
func takesEveryHalf(t *testing.T, b bench) {
	var all []float32
	for code := range 1 << 16 {
		if code&0x7c00 != 0x7c00 {
			all = append(all, float16.Frombits(uint16(code)).Float32())
		}
	}
	blocks := len(all) / 256 // of 16 × 16
	for _, first := range []int{0, 8} {
		ones := make([]float32, blocks*128)
		for i := range blocks * 8 {
			ones[i/8*128+(first+i%8)*8+i%8] = 1 // the columns from the first on
		}
		for i, v := range product(t, b, factors[0], 0, all, ones, make([]float32, blocks*128)) {
			require.Equal(t, all[i/8*16+first+i%8], v, "row %d, column %d", i/8, first+i%8)
		}
	}
}

func loadsMatrices(t *testing.T, b bench) {
	x := ramp[uint16](256)
	words := make([]uint32, 128)
	for i := range words {
		words[i] = uint32(x[2*i]) | uint32(x[2*i+1])<<16
	}
	in, out := upload(t, b, "x", words), alloc[uint32](t, b, "r", 128)
	for _, transposed := range []bool{false, true} {
		b.launch(t, "load", device.Launch{Grid: device.D1(1), Block: device.D1(32)}, in, out, transposed)
		for i, got := range download(t, b, out) {
			lane, matrix := i/4, x[i%4*64:]
			low, high := lane/4*8+lane%4*2, lane/4*8+lane%4*2+1
			if transposed {
				low, high = lane%4*2*8+lane/4, (lane%4*2+1)*8+lane/4
			}
			require.Equal(t, uint32(matrix[low])|uint32(matrix[high])<<16, got, "transposed %v: register %d of lane %d", transposed, i%4, lane)
		}
	}
}

func roundsToTF32(t *testing.T, b bench) {
	x := []float32{0, 1, -1, 1 + 0x1p-11, -1 - 0x1p-11, 1 + 0x1p-11 - 0x1p-23, 1 + 3*0x1p-11, 0x1p-126, math.Pi, -1e30,
		2 - 0x1p-23, float32(math.Inf(1)), float32(math.Inf(-1))}
	want := []float32{0, 1, -1, 1 + 0x1p-10, -1 - 0x1p-10, 1, 1 + 0x1p-9, 0x1p-126, 0x1.92p+1, -0x1.94p+99,
		2, float32(math.Inf(1)), float32(math.Inf(-1))}
	out := alloc[uint32](t, b, "r", len(x))
	b.launch(t, "roundToTF32", device.Launch{Grid: device.D1(1), Block: device.D1(32)}, upload(t, b, "x", x), out, len(x))
	for i, code := range download(t, b, out) {
		require.Equal(t, float64(want[i]), cut(math.Float32frombits(code)), "%v", x[i])
	}
}
