package device

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heap is a Queue whose memory is a Go slice: all that Buffer needs.
type heap struct {
	Queue
	bytes   []byte
	freed   []Memory
	copyErr error
}

func (h *heap) Malloc(name string, bytes int64) (Memory, error) {
	if bytes > 1<<20 {
		return Memory{Name: "rubbish"}, ErrOutOfMemory
	}
	at := len(h.bytes)
	h.bytes = append(h.bytes, make([]byte, bytes)...)
	return Memory{uint64(at), bytes, name}, nil
}

func (h *heap) Free(m Memory) error {
	h.freed = append(h.freed, m)
	return nil
}

func (h *heap) CopyIn(dst Memory, src []byte) error {
	copy(h.bytes[dst.Addr:][:dst.Bytes], src)
	return h.copyErr
}

func (h *heap) CopyOut(dst []byte, src Memory) error {
	copy(dst, h.bytes[src.Addr:][:src.Bytes])
	return h.copyErr
}

func TestBufferRoundTripAndSlice(t *testing.T) {
	h := &heap{bytes: make([]byte, 16)}
	b, err := Upload(h, "x", []float32{0, 1, 2, 3, 4})
	require.NoError(t, err)
	assert.Equal(t, 5, b.Len())

	part, err := b.Slice(1, 3)
	require.NoError(t, err)
	assert.Equal(t, Memory{16 + 4, 8, "x"}, part.Memory())
	require.NoError(t, part.CopyIn(h, []float32{10, 20}))
	inner, err := part.Slice(1, 2)
	require.NoError(t, err)
	got, err := inner.CopyOut(h)
	require.NoError(t, err)
	assert.Equal(t, []float32{20}, got)
	got, err = b.CopyOut(h)
	require.NoError(t, err)
	assert.Equal(t, []float32{0, 10, 20, 3, 4}, got)

	for _, bad := range [][2]int{{-1, 2}, {0, 6}, {3, 3}, {4, 2}, {5, 6}} {
		_, err := b.Slice(bad[0], bad[1])
		assert.ErrorContains(t, err, "the buffer holds 5 elements")
	}
	assert.ErrorContains(t, b.CopyIn(h, []float32{1}), "copy to x: got 1 elements, want 5")
}

func TestBufferOfViewsWholeElements(t *testing.T) {
	b, err := BufferOf[uint16](Memory{64, 6, "h"})
	require.NoError(t, err)
	assert.Equal(t, 3, b.Len())
	_, err = BufferOf[float64](Memory{64, 12, "d"})
	assert.ErrorContains(t, err, "12 bytes are no whole number of 8-byte elements")
}

func TestAllocRefusesSizes(t *testing.T) {
	h := &heap{}
	for _, n := range []int{0, -1} {
		_, err := Alloc[float32](h, "x", n)
		assert.ErrorContains(t, err, "want at least 1")
	}
	// 2^62 + 1 floats are 2^64 + 4 bytes, and 4 once that has wrapped round.
	_, err := Alloc[float32](h, "x", 1<<62+1)
	assert.ErrorIs(t, err, ErrOutOfMemory)
	b, err := Alloc[float32](h, "x", 1<<20)
	assert.ErrorIs(t, err, ErrOutOfMemory)
	assert.Zero(t, b)
}

func TestUploadFreesWhatItCouldNotFill(t *testing.T) {
	h := &heap{copyErr: errors.New("no bus")}
	_, err := Upload(h, "x", []int32{1, 2})
	assert.EqualError(t, err, "no bus")
	assert.Len(t, h.freed, 1)
	_, err = Upload(h, "x", []int32{})
	assert.Error(t, err)
}

func TestQueueOfCannotBeWidened(t *testing.T) {
	type wide struct{ Device }
	_, ok := QueueOf(wide{}).(Device)
	assert.False(t, ok)
}
