package devicetest

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func describes(t *testing.T, b bench) {
	info := b.Info()
	assert.Contains(t, []device.Kind{device.Sim, device.CUDA}, info.Kind)
	assert.NotEmpty(t, info.Name)
	assert.NotEmpty(t, info.Arch)
	assert.Positive(t, info.Processors)
	assert.Equal(t, 32, info.WarpSize)
	assert.Equal(t, 1024, info.MaxThreads)
	assert.GreaterOrEqual(t, info.MaxShared, 48*1024)
	assert.Positive(t, info.MemoryBytes)
}

// roundTrips: sizes around what allocators and copies like to round to.
func roundTrips(t *testing.T, b bench) {
	for _, n := range []int{1, 3, 17, 255, 256, 257, 4097, 1<<20 + 5} {
		t.Run(fmt.Sprint(n, " bytes"), func(t *testing.T) {
			want := pattern(n)
			buf := upload(t, b, "bytes", want)
			require.True(t, bytes.Equal(want, download(t, b, buf)), "the bytes came back changed")
		})
	}
	floats := []float32{0, 1.5, -3e38, float32(math.Inf(1)), math.SmallestNonzeroFloat32}
	assert.Equal(t, floats, download(t, b, upload(t, b, "floats", floats)))
	longs := []int64{math.MinInt64, -1, math.MaxInt64}
	assert.Equal(t, longs, download(t, b, upload(t, b, "longs", longs)))

	// Two buffers never share memory.
	first, second := upload(t, b, "first", pattern(100)), upload(t, b, "second", make([]byte, 100))
	assert.Equal(t, pattern(100), download(t, b, first))
	assert.Equal(t, make([]byte, 100), download(t, b, second))
}

func slices(t *testing.T, b bench) {
	whole := upload(t, b, "whole", ramp[int32](100))
	part, err := whole.Slice(33, 36)
	require.NoError(t, err)
	assert.Equal(t, []int32{33, 34, 35}, download(t, b, part))

	require.NoError(t, part.CopyIn(b, []int32{-1, -2, -3}))
	want := ramp[int32](100)
	copy(want[33:], []int32{-1, -2, -3})
	assert.Equal(t, want, download(t, b, whole))

	// A kernel given a slice starts at its first element.
	tail, err := whole.Slice(92, 100)
	require.NoError(t, err)
	b.launch(t, "lookUp", device.Launch{Grid: device.D1(1), Block: device.D1(8)}, tail, 1)
	copy(want[92:], []int32{2, 3, 5, 7, 11, 13, 17, 19})
	assert.Equal(t, want, download(t, b, whole))
}

func sets(t *testing.T, b bench) {
	for _, n := range []int{1, 7, 1000} {
		buf := upload(t, b, "buf", pattern(n+2))
		inner, err := buf.Slice(1, n+1)
		require.NoError(t, err)
		require.NoError(t, b.Set(inner.Memory(), 0xA5))
		want := pattern(n + 2)
		for i := range n {
			want[1+i] = 0xA5
		}
		assert.Equal(t, want, download(t, b, buf), "%d bytes set", n)
	}
}

// poisons: an element that no kernel writes must never pass for a result.
func poisons(t *testing.T, b bench) {
	floats := upload(t, b, "floats", ramp[float32](1001))
	require.NoError(t, b.Poison(floats.Memory()))
	for i, v := range download(t, b, floats) {
		require.True(t, math.IsNaN(float64(v)), "element %d is %v", i, v)
	}
	doubles := upload(t, b, "doubles", ramp[float64](33))
	require.NoError(t, b.Poison(doubles.Memory()))
	for i, v := range download(t, b, doubles) {
		require.True(t, math.IsNaN(v), "element %d is %v", i, v)
	}
	halves := upload(t, b, "halves", ramp[uint16](5))
	part, err := halves.Slice(1, 4)
	require.NoError(t, err)
	require.NoError(t, b.Poison(part.Memory()))
	got := download(t, b, halves)
	assert.Equal(t, []uint16{0, 4}, []uint16{got[0], got[4]}, "poison beside the slice")
	for i, v := range got[1:4] {
		assert.True(t, v&0x7c00 == 0x7c00 && v&0x03ff != 0, "half %d is %#x, no NaN", i, v)
	}
}

func refusesCopies(t *testing.T, b bench) {
	buf := upload(t, b, "ten", pattern(10))
	err := b.CopyIn(buf.Memory(), make([]byte, 11))
	require.Error(t, err, "copying 11 bytes into 10")
	assert.Contains(t, err.Error(), "ten", "the message names the buffer")
	require.Error(t, b.CopyOut(make([]byte, 9), buf.Memory()), "copying 10 bytes into 9")

	// All three reach past the end of what was allocated.
	beyond := buf.Memory()
	beyond.Bytes += 1 << 30
	assert.Error(t, b.Set(beyond, 0), "setting beyond the end")
	assert.Error(t, b.Poison(beyond), "poisoning beyond the end")
	assert.Error(t, b.Set(device.Memory{Name: "none", Bytes: 4}, 0), "setting what was never allocated")
	assert.Equal(t, pattern(10), download(t, b, buf), "a refused copy leaves the buffer as it was")
}

func refusesFrees(t *testing.T, b bench) {
	m, err := b.Malloc("once", 64)
	require.NoError(t, err)
	inner := m
	inner.Addr, inner.Bytes = m.Addr+16, 16
	assert.Error(t, b.Free(inner), "freeing a part")
	require.NoError(t, b.Free(m))
	assert.Error(t, b.Free(m), "freeing twice")
	assert.Error(t, b.Free(device.Memory{Name: "none", Bytes: 4}), "freeing what was never allocated")
	_, err = b.Malloc("nothing", 0)
	assert.Error(t, err, "allocating 0 bytes")
	_, err = b.Malloc("less", -1)
	assert.Error(t, err, "allocating -1 bytes")
}

func runsOutOfMemory(t *testing.T, b bench) {
	_, err := b.Malloc("everything", 1<<45)
	require.ErrorIs(t, err, device.ErrOutOfMemory)
	assert.Contains(t, err.Error(), "everything", "the message names the buffer")
	adds(t, b)
}

// pattern is n bytes that no two neighbours of share.
func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*31 + i>>8)
	}
	return data
}
