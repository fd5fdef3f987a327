package wire

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

func shaped(shapes ...[]int) []problem.Tensor { return asking(0, shapes...).Outputs }

func TestArraysTravel(t *testing.T) {
	odd, err := tensor.Of([]float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), math.MaxFloat32, 1e-45, -3}, 2, 1, 3)
	require.NoError(t, err)
	sent := []*tensor.Tensor{odd, tensor.New(2, 3, 4, 5), tensor.New(0, 3), tensor.New([]int{}...)}
	b, err := encode(sent)
	require.NoError(t, err)
	got, err := decode(b, shaped([]int{2, 1, 3}, []int{2, 3, 4, 5}, []int{0, 3}, []int{}))
	require.NoError(t, err)
	assert.Equal(t, sent, got)

	quiet := math.Float32frombits(0x7fc12345)
	nan, err := tensor.Of([]float32{quiet}, 1)
	require.NoError(t, err)
	b, err = encode([]*tensor.Tensor{nan})
	require.NoError(t, err)
	got, err = decode(b, shaped([]int{1}))
	require.NoError(t, err)
	assert.Equal(t, math.Float32bits(quiet), math.Float32bits(got[0].Data[0]), "every bit of a NaN")
}

func TestNarrowArraysTravel(t *testing.T) {
	for _, ty := range tensor.Types {
		x, err := tensor.RandomAs(ty, tensor.Normal, 5, 1, 3, 14)
		require.NoError(t, err)
		b, err := encode([]*tensor.Tensor{x})
		require.NoError(t, err)
		assert.Len(t, b, 12+42*ty.Bits()/8)
		want := shaped([]int{3, 14})
		want[0].Type = ty
		got, err := decode(b, want)
		require.NoError(t, err)
		assert.Equal(t, []*tensor.Tensor{x}, got)
		for _, other := range tensor.Types {
			want[0].Type = other
			_, err := decode(b, want)
			assert.Equal(t, other == ty, err == nil, "%v as %v", ty, other)
		}
	}
	want := shaped([]int{1})
	want[0].Type = "float15"
	_, err := decode([]byte("<f4\x01\x01\x00\x00\x00\x00\x00\x00\x00"), want)
	assert.ErrorContains(t, err, "unknown type")
}

func TestUnpackRefuses(t *testing.T) {
	b, err := encode([]*tensor.Tensor{tensor.New(2, 3)})
	require.NoError(t, err)
	want := shaped([]int{2, 3})
	for n := range len(b) {
		_, err := decode(b[:n], want)
		assert.ErrorContains(t, err, "cut off", "%d of %d bytes", n, len(b))
	}
	for at := range 12 {
		lying := append([]byte(nil), b...)
		lying[at] ^= 0xff
		_, err := decode(lying, want)
		assert.Error(t, err, "byte %d", at)
	}
	_, err = decode(append(b, 0), want)
	assert.ErrorContains(t, err, "1 bytes more")
	_, err = decode(b, append(want, want...))
	assert.ErrorContains(t, err, "cut off")

	// What a case asks for is checked against the bounds, too.
	huge := []byte(tensor.Float32.Tag() + "\x02")
	huge = binary.LittleEndian.AppendUint32(huge, tensor.MaxElements)
	huge = binary.LittleEndian.AppendUint32(huge, 2)
	_, err = decode(huge, shaped([]int{tensor.MaxElements, 2}))
	assert.ErrorContains(t, err, "at most")
	_, err = decode(huge[:8], shaped([]int{tensor.MaxElements}))
	assert.ErrorContains(t, err, "cut off")
	_, err = encode([]*tensor.Tensor{tensor.New(tensor.MaxElements + 1)})
	assert.ErrorContains(t, err, "at most")
}

func TestNoiseIsNoArray(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		noise := make([]byte, r.IntN(64))
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		_, err := decode(noise, shaped([]int{2, 3}))
		assert.Error(t, err)
	}
}
