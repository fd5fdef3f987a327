package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// laidWeights are random weights of four bits in the order of fragments, as bonus task b8's handout tells it, and
// in float64: [n, k].
func laidWeights(r *rand.Rand, n, k int) (codes []byte, scales []uint16, zeros []byte, w matrix) {
	w = matrix{rows: n, columns: k, values: make([]float64, n*k)}
	tiles, groups := (n+15)/16, k/128
	codes, scales, zeros = make([]byte, tiles*8*k), make([]uint16, tiles*groups*16), make([]byte, tiles*groups*16)
	for output := range tiles * 16 {
		tile, g, half := output/16, output%8, output/8%2
		for group := range groups {
			scale, zero := half16.round((0.5+r.Float64())/64, nearest), r.IntN(16)
			if output >= n {
				scale, zero = 0, 0
			}
			at := ((tile*groups+group)*8+g)*2 + half
			scales[at], zeros[at] = scale, byte(zero|r.IntN(16)<<4)
			for i := range 128 {
				number := group*128 + i
				code := r.IntN(16)
				if output < n {
					w.values[output*k+number] = float64(code-zero) * half16.value(scale)
				}
				// 64 numbers are a piece: number 32q + 8t + 4s + 2h + e is in lane 4g + t, word 2q + s.
				q, t, s, h, e := number/32%2, number/8%4, number/4%2, number/2%2, number%2
				lane := (tile*(k/64)+number/64)*32 + 4*g + t
				bit := e*16 + h*8 + half*4
				codes[lane*16+(2*q+s)*4+bit/8] |= byte(code) << (bit % 8)
			}
		}
	}
	return codes, scales, zeros, w
}

// fourBits is a shape of x [rows, k] by weights [n, k], and how many blocks share out its outputs, and its k.
type fourBits struct{ rows, n, k, blocks, parts int }

// TestHoppersFourBits runs bonus task b8's kernel that multiplies weights of four bits by wgmma, with all checks,
// against float64; with several blocks that share k, too.
func TestHoppersFourBits(t *testing.T) {
	for _, s := range []fourBits{{1, 1, 128, 1, 1}, {64, 128, 256, 1, 1}, {17, 40, 768, 1, 1}, {33, 150, 1152, 2, 3}} {
		multiplyFourBits(t, "hopper.cu", "rows_hopper", s, device.Launch{Block: device.D1(384), Shared: 4*64*256 + 1024})
	}
}

// TestStreamedFourBits runs the one for up to 16 rows, past which weights stream: more tiles than a block has room
// for, groups that are no multiple of its warps, and blocks that share k.
func TestStreamedFourBits(t *testing.T) {
	for _, s := range []fourBits{{1, 1, 128, 1, 1}, {16, 16, 4096, 1, 1}, {9, 150, 640, 2, 1}, {16, 40, 2176, 3, 1}, {13, 72, 4224, 2, 2}, {16, 20, 640, 1, 3}} {
		multiplyFourBits(t, "stream.cu", "stream16", s, device.Launch{Block: device.D1(512), Shared: 2*32*1072 + 2*16*1024})
	}
}

// multiplyFourBits runs one of the task's kernels. They want room for what blocks find that share k.
func multiplyFourBits(t *testing.T, file, name string, s fourBits, l device.Launch) {
	text, err := os.ReadFile("../../bonus/b8_w4a16/solution/" + file)
	require.NoError(t, err)
	t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
		d := start(t, Options{Checks: AllChecks(), Workers: 1})
		m, err := d.Compile(device.Source{Name: file, Text: string(text)})
		require.NoError(t, err)
		kernel, err := m.Kernel(name)
		require.NoError(t, err)
		b, r := bench{t, d, m}, rand.New(rand.NewPCG(4, 16))
		codes, scales, zeros, w := laidWeights(r, s.n, s.k)
		x := matrix{rows: s.rows, columns: s.k, values: make([]float64, s.rows*s.k)}
		for i := range x.values {
			x.values[i] = float64(r.IntN(257)-128) / 64
		}
		y := alloc[uint16](b, "y", s.rows*s.n)
		args := []any{upload(b, "x", x.codes(half16)), upload(b, "codes", codes), upload(b, "scales", scales), upload(b, "zeros", zeros), y,
			alloc[float32](b, "between", s.parts*s.blocks*128*64), upload(b, "done", make([]uint32, s.blocks))}
		l.Grid = device.D2(s.blocks, s.parts)
		for range 2 { // the second launch finds what the first one left: a count of 0
			err = d.Launch(kernel, l, append(args, s.rows, s.k, s.n)...)
			report, _ := d.Report()
			for i, f := range report.Findings {
				if i < 8 {
					assert.Fail(t, "a finding on a right kernel", "%v", f)
				}
			}
			require.NoError(t, err)
		}
		for i, code := range download(b, y) {
			want, size := 0.0, 0.0
			for j := range s.k {
				term := x.values[i/s.n*s.k+j] * w.values[i%s.n*s.k+j]
				want, size = want+term, size+term*term
			}
			// The output's rounding, and float32's of sums of that size.
			limit := math.Abs(want)*0x1p-11 + math.Sqrt(size)*1e-5
			if diff := math.Abs(half16.value(code) - want); !(diff <= limit) {
				require.Fail(t, "wrong", "y[%d] = %v, want %v within %.2g", i, half16.value(code), want, limit)
			}
		}
	})
}
