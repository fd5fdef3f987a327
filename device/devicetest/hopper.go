package devicetest

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

//go:embed hopper.cu
var hopperKernels string

// Hopper is the part of the suite that takes Hopper, by itself.
func Hopper(t *testing.T, open func(t *testing.T) device.Device) {
	t.Helper()
	onHopper(t, start(t, open))
}

// onHopper runs what only Hopper has, and the simulator.
func onHopper(t *testing.T, b bench) {
	if arch := b.Info().Arch; arch != "sim" && arch < "sm_90" {
		t.Skip("it takes Hopper")
	}
	m, err := b.Compile(device.Source{Name: "hopper.cu", Text: hopperKernels})
	require.NoError(t, err)
	b.module = m
	t.Run("Products", func(t *testing.T) { multipliesInGroups(t, b) })
	t.Run("Boxes", func(t *testing.T) { movesBoxes(t, b) })
	t.Run("Clusters", func(t *testing.T) { inClusters(t, b) })
	t.Run("Words", func(t *testing.T) { hasHoppersWords(t, b) })
	t.Run("Ring", func(t *testing.T) {
		in, out := upload(t, b, "in", ramp[uint32](1024)), alloc[uint32](t, b, "out", 1024)
		b.launch(t, "ring", device.Launch{Grid: device.D1(1), Block: device.D1(96)}, in, out)
		for i, v := range download(t, b, out) {
			require.Equal(t, uint32(2*i), v, "out[%d]", i)
		}
	})
	t.Run("Arrivals", func(t *testing.T) {
		in, out := upload(t, b, "in", ramp[uint32](128)), alloc[uint32](t, b, "out", 256)
		b.launch(t, "arrivals", device.Launch{Grid: device.D1(1), Block: device.D1(128)}, in, out)
		got := download(t, b, out)
		elected := 0
		for i := range 128 {
			require.Equal(t, uint32(3*127*64+3*128), got[i], "thread %d", i)
			elected += int(got[128+i])
		}
		assert.Equal(t, 4, elected, "one lane of each warp")
	})
}

// groupFactor is a type of wgmma's: its numbers, from -4 to 3 or 0 to 7, are exact.
type groupFactor struct {
	bytes  int
	signed bool
	code   func(v int) uint32
}

func floatCode(bits, fraction, bias int) func(v int) uint32 {
	return func(v int) uint32 {
		u := math.Float32bits(float32(v))
		if v == 0 {
			return 0
		}
		exponent := int(u>>23&255) - 127 + bias
		return u>>31<<(bits-1) | uint32(exponent)<<fraction | u&0x7fffff>>(23-fraction)
	}
}

var (
	f16  = groupFactor{2, true, floatCode(16, 10, 15)}
	bf16 = groupFactor{2, true, floatCode(16, 7, 127)}
	tf32 = groupFactor{4, true, floatCode(32, 23, 127)}
	s8   = groupFactor{1, true, func(v int) uint32 { return uint32(uint8(v)) }}
	u8   = groupFactor{1, false, s8.code}
	e4m3 = groupFactor{1, true, floatCode(8, 3, 7)}
	e5m2 = groupFactor{1, true, floatCode(8, 2, 15)}
)

// groupForm is one instruction of group_product.
type groupForm struct {
	a, b                   groupFactor
	transposeA, transposeB bool
	registers              bool
	sign                   int
	sum                    string
}

var groupForms = []groupForm{
	{a: f16, b: f16, sign: 1, sum: "f32"},
	{a: f16, b: f16, transposeA: true, transposeB: true, sign: 1, sum: "f32"},
	{a: f16, b: f16, transposeA: true, sign: -1, sum: "f32"},
	{a: bf16, b: bf16, transposeB: true, sign: -1, sum: "f32"},
	{a: f16, b: f16, registers: true, sign: 1, sum: "f32"},
	{a: bf16, b: bf16, registers: true, transposeB: true, sign: -1, sum: "f32"},
	{a: tf32, b: tf32, sign: 1, sum: "f32"},
	{a: tf32, b: tf32, registers: true, sign: 1, sum: "f32"},
	{a: s8, b: s8, sign: 1, sum: "s32"},
	{a: u8, b: s8, sign: 1, sum: "s32"},
	{a: u8, b: u8, registers: true, sign: 1, sum: "s32"},
	{a: e4m3, b: e4m3, sign: 1, sum: "f32"},
	{a: e5m2, b: e4m3, sign: 1, sum: "f32"},
	{a: e4m3, b: e5m2, registers: true, sign: -1, sum: "f32"},
	{a: f16, b: f16, sign: 1, sum: "f16"},
}

// layout places the 64 rows of a factor in shared memory as a descriptor's swizzle wants them:
// rows of 32 bytes, or, transposed, 16 lines of the rows' numbers.
type layout struct {
	swizzle    int
	transposed bool
}

func (l layout) descriptor() uint64 {
	leading, stride := 128, 256
	switch {
	case l.swizzle != 0 && l.transposed:
		leading, stride = 16*l.swizzle, 8*l.swizzle
	case l.swizzle != 0:
		leading, stride = 16, 8*l.swizzle
	}
	mode := map[int]uint64{0: 0, 128: 1, 64: 2, 32: 3}[l.swizzle]
	return uint64(leading/16)<<16 | uint64(stride/16)<<32 | mode<<62
}

// at is where the number k of a row is, in bytes.
func (l layout) at(row, k, bytes int) int {
	line, inLine := row, k*bytes // of the swizzle's length
	if l.transposed {
		line, inLine = k, row*bytes
	}
	if l.swizzle == 0 {
		if l.transposed {
			return inLine/16*256 + line/8*128 + line%8*16 + inLine%16
		}
		return line/8*256 + inLine/16*128 + line%8*16 + inLine%16
	}
	at := line*l.swizzle + inLine
	if l.transposed { // beyond the swizzle's length comes the next block of 16 lines
		at = inLine/l.swizzle*16*l.swizzle + line*l.swizzle + inLine%l.swizzle
	}
	return at ^ at>>7&(l.swizzle/16-1)<<4
}

// image is 8 KB of shared memory with a factor in it.
func (l layout) image(f groupFactor, numbers []int, depth int) []uint32 {
	image := make([]uint32, 2048)
	for i, v := range numbers {
		at, code := l.at(i/depth, i%depth, f.bytes), f.code(v)
		image[at/4] |= code << (8 * (at % 4))
	}
	return image
}

func multipliesInGroups(t *testing.T, b bench) {
	r := rand.New(rand.NewPCG(18, 9))
	for n, form := range groupForms {
		for i, swizzle := range []int{0, 32, 64, 128} {
			depth := 32 / form.a.bytes
			draw := func(f groupFactor) []int {
				all := make([]int, 64*depth)
				for i := range all {
					if all[i] = r.IntN(8); f.signed {
						all[i] -= 4
					}
				}
				return all
			}
			x, y := draw(form.a), draw(form.b)
			ofA, ofB := layout{swizzle, form.transposeA}, layout{[]int{128, 64, 32, 0}[i], form.transposeB}
			adds := (n + i) % 2
			fragments := make([]uint32, 4*128)
			for at := range fragments {
				thread, w := at/4, at%4
				row, word := thread/32*16+thread%32/4+8*(w%2), thread%4+4*(w/2)
				for e := range 4 / form.a.bytes {
					fragments[at] |= form.a.code(x[row*depth+word*4/form.a.bytes+e]) << (8 * form.a.bytes * e)
				}
			}
			codes := map[string]func(v int) uint32{"f32": floatCode(32, 23, 127), "f16": f16.code, "s32": func(v int) uint32 { return uint32(int32(v)) }}
			code := codes[form.sum]
			before, want := make([]uint32, 32*128), make([]uint32, 32*128)
			for thread := range 128 {
				for i := range 64 * 64 / 128 { // numbers of a thread
					j, h, c := i/4, i/2%2, i%2
					row, column := thread/32*16+thread%32/4+8*h, 8*j+thread%4*2+c
					start := (thread + 3*i) % 5
					sum := start * adds
					for k := range depth {
						sum += form.sign * x[row*depth+k] * y[column*depth+k]
					}
					at, shift := 32*thread+i, 0
					if form.sum == "f16" {
						at, shift = 32*thread+i/2, 16*(i%2)
					}
					before[at] |= code(start) << shift
					want[at] |= code(sum) << shift
				}
			}
			sums := upload(t, b, "sums", before)
			b.launch(t, "group_product", device.Launch{Grid: device.D1(1), Block: device.D1(128)},
				upload(t, b, "a", ofA.image(form.a, x, depth)), upload(t, b, "b", ofB.image(form.b, y, depth)),
				upload(t, b, "fragments", fragments), sums, ofA.descriptor(), ofB.descriptor(), n, adds)
			got := download(t, b, sums)
			for at, w := range want {
				if form.sum == "f16" && at%32 >= 16 {
					continue // the narrow form leaves them alone
				}
				require.Equal(t, w, got[at], "form %d, swizzles %d and %d: register %d of thread %d", n, ofA.swizzle, ofB.swizzle, at%32, at/32)
			}
		}
	}
}
