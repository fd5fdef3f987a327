package half

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/tensor/quant"
)

// TestQuantise: what quant.ToINT4 makes in Go, to the bit, and back.
func TestQuantise(t *testing.T) {
	r := start(t)
	for _, s := range []struct{ n, k int }{{1, 128}, {17, 256}, {33, 640}} {
		w := r.random(s.n * s.k)
		for i := range 128 {
			w[i] = 0 // a group of zeros
			if s.n > 1 {
				w[s.k+i] = 1000 // one with no number below 0
			}
		}
		want, err := quant.ToINT4(w, s.k, true)
		require.NoError(t, err)
		to := Four{Codes: room[uint8](r, "codes", s.n*s.k/2), Scales: r.out(s.n * s.k / 128), Zeros: room[uint8](r, "zeros", s.n*s.k/128)}
		require.NoError(t, r.Quantise(to, r.on("w", w), s.n, s.k))
		assert.Equal(t, want.Codes, fetch(r, to.Codes))
		assert.Equal(t, want.Scales, r.read(to.Scales))
		assert.Equal(t, want.Zeros, fetch(r, to.Zeros))

		back := r.out(s.n * s.k)
		require.NoError(t, r.Dequantise(back, to, s.n, s.k))
		numbers := want.Numbers()
		for i := range numbers {
			numbers[i] = device.ToFloat16(numbers[i]).Float32()
		}
		assert.Equal(t, numbers, r.read(back))

		laid := r.laid(want, s.n, s.k)
		again := r.out(s.n * s.k)
		require.NoError(t, r.Dequantise(again, laid, s.n, s.k))
		assert.Equal(t, numbers, r.read(again), "laid")
	}
}

// laid puts weights in the order of fragments, by the handout of bonus task b8: word 2q + s of a lane 4g + t's
// 16 bytes of a piece has the numbers from 32q + 8t + 4s on, of outputs g and g + 8.
func (r *rig) laid(m quant.INT4, n, k int) Four {
	tiles := over(n, 16)
	codes, scales, zeros := make([]uint8, tiles*16*k/2), make([]float32, tiles*16*k/128), make([]uint8, tiles*16*k/128)
	for o := range n {
		tile, g, high := o/16, o%8, o%16/8
		for i := range k {
			code := uint32(m.Codes[(o*k+i)/2]>>(i%2*4)) & 15
			piece, q, lane, s, j := i/64, i%64/32, g*4+i%32/8, i%8/4, i%4
			bit := j%2*16 + j/2*8 + 4*high
			word := ((tile*(k/64)+piece)*32+lane)*4 + 2*q + s
			codes[word*4+bit/8] |= uint8(code << (bit % 8))
		}
		for group := range k / 128 {
			at := ((tile*(k/128)+group)*8+g)*2 + high
			scales[at], zeros[at] = m.Scales[o*(k/128)+group], m.Zeros[o*(k/128)+group]
		}
	}
	return Four{Codes: put(r, "codes", codes), Scales: r.on("scales", scales), Zeros: put(r, "zeros", zeros), Laid: true}
}

func TestLosses(t *testing.T) {
	r := start(t)
	for _, s := range []struct{ rows, width int }{{1, 1}, {3, 17}, {2, 1000}, {5, 257}} {
		logits, targets, want := r.random(s.rows*s.width), make([]int32, s.rows), make([]float64, s.rows)
		for row := range want {
			targets[row] = int32(row * 7 % s.width)
			sum, x := 0.0, logits[row*s.width:(row+1)*s.width]
			for _, v := range x {
				sum += math.Exp(float64(v))
			}
			want[row] = 3 + math.Log(sum) - float64(x[targets[row]])
		}
		sums := put(r, "sums", []float64{3, 3, 3, 3, 3}[:s.rows])
		require.NoError(t, r.Losses(sums, put(r, "logits", logits), put(r, "targets", targets), s.rows, s.width))
		assert.InDeltaSlice(t, want, fetch(r, sums), 1e-4, fmt.Sprint(s))
	}
	sums := put(r, "sums", []float64{0, 0, 0})
	logits := []float32{1, 2, 3, 4, float32(math.NaN()), 5}
	require.NoError(t, r.Losses(sums, put(r, "logits", logits), put(r, "targets", []int32{-1, 2, 0}), 3, 2))
	for _, sum := range fetch(r, sums) {
		assert.True(t, math.IsNaN(sum))
	}
}
