package devicetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/tensor"
)

// movesBoxes: a tensor's boxes arrive as the swizzle lays them, with zeros for what is outside,
// and go back to where they came from. Rows begin at multiples of 16 bytes.
func movesBoxes(t *testing.T, b bench) {
	for _, c := range []struct {
		element          tensor.Type
		sizes, box, from []int
		swizzle          int
	}{
		{tensor.Float32, []int{100}, []int{64}, []int{-8}, 0},
		{tensor.Float32, []int{100}, []int{64}, []int{80}, 0},
		{tensor.Float16, []int{72, 20}, []int{64, 16}, []int{0, 4}, 128},
		{tensor.Float16, []int{72, 20}, []int{64, 16}, []int{40, 12}, 128},
		{tensor.Float16, []int{72, 20}, []int{32, 16}, []int{-8, -5}, 64},
		{tensor.Int8, []int{48, 20, 3}, []int{32, 8, 2}, []int{16, 16, 2}, 32},
		{tensor.Float16, []int{40, 5, 3, 4}, []int{24, 3, 2, 2}, []int{8, 1, 2, 3}, 0},
		{tensor.Float32, []int{8, 3, 2, 3, 2}, []int{8, 2, 2, 2, 2}, []int{4, 2, 0, 1, 1}, 0},
	} {
		rank, size, before := len(c.sizes), c.element.Bytes(1), false
		all, boxes := size, size
		for d := range rank {
			all *= c.sizes[d]
			boxes *= c.box[d]
			before = before || c.from[d] < 0
		}
		whole, from, want := make([]uint8, all), make([]uint8, boxes), make([]uint8, boxes)
		for i := range whole {
			whole[i] = uint8(1 + i%251)
		}
		for i := range from {
			from[i] = uint8(255 - i%253)
		}
		after := append([]uint8{}, whole...)
		for i := range boxes {
			e, inside, at, rest, stride := i/size, true, i%size, 0, size
			rest = e
			for d := range rank {
				x := c.from[d] + rest%c.box[d]
				rest /= c.box[d]
				inside = inside && x >= 0 && x < c.sizes[d]
				at += x * stride
				stride *= c.sizes[d]
			}
			lies := i
			if c.swizzle != 0 {
				lies ^= i >> 7 & (c.swizzle/16 - 1) << 4
			}
			if inside {
				want[lies] = whole[at]
				after[at] = from[lies]
			}
		}
		memory := upload(t, b, "tensor", whole)
		m, err := device.NewTensorMap(memory.Memory(), c.element, c.sizes, c.box, c.swizzle)
		require.NoError(t, err)
		x := make([]any, 5)
		for d := range x {
			x[d] = 0
			if d < rank {
				x[d] = c.from[d]
			}
		}
		one := device.Launch{Grid: device.D1(1), Block: device.D1(64)}
		out := alloc[uint8](t, b, "out", boxes)
		b.launch(t, "box_in", one, m, rank, x[0], x[1], x[2], x[3], x[4], boxes, words(t, out))
		require.Equal(t, want, download(t, b, out), "%v of %v from %v, swizzle %d", c.box, c.sizes, c.from, c.swizzle)
		if before {
			continue // no GPU stores such a box
		}
		b.launch(t, "box_out", one, m, rank, x[0], x[1], x[2], x[3], x[4], boxes, words(t, upload(t, b, "in", from)))
		require.Equal(t, after, download(t, b, memory), "%v of %v to %v, swizzle %d", c.box, c.sizes, c.from, c.swizzle)
	}
}

// words views bytes as words.
func words(t *testing.T, b device.Buffer[uint8]) device.Buffer[uint32] {
	t.Helper()
	w, err := device.BufferOf[uint32](b.Memory())
	require.NoError(t, err)
	return w
}
